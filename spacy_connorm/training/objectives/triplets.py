"""What the triplet losses share. Imports torch."""

from collections.abc import Iterator

import torch
from pytorch_metric_learning.losses import TripletMarginLoss


def distance_matrix(loss: TripletMarginLoss, points: torch.Tensor) -> torch.Tensor:
    """loss (TripletMarginLoss): Its distance counts.
    points (torch.Tensor): float32 (B, d), scaled where the distance scales.
    RETURNS (torch.Tensor): (B, B), smaller for the nearer: cosines are negated.
    """
    return loss.distance.margin(loss.distance.compute_mat(points, points), 0)


def violations(
    loss: TripletMarginLoss,
    points: torch.Tensor,
    triplets: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """By how much triplets violate the margin. The library's own loss takes them from the matrix of
    all distances, whose gradients cost more than those of the few distances needed.

    loss (TripletMarginLoss): Its distance, margin and smoothness count.
    points (torch.Tensor): float32 (B, d), scaled where the distance scales.
    triplets (Tuple[torch.Tensor, torch.Tensor, torch.Tensor]): int64 (n,): anchors, positives,
        negatives.
    RETURNS (torch.Tensor): (n,), at least 0.
    """
    anchors, positives, negatives = (points[rows] for rows in triplets)
    apart = loss.distance.margin(
        loss.distance.pairwise_distance(anchors, positives),
        loss.distance.pairwise_distance(anchors, negatives),
    )
    if loss.smooth_loss:
        return torch.nn.functional.softplus(apart + loss.margin)
    return torch.nn.functional.relu(apart + loss.margin)


def parts(count: int, *, size: int) -> Iterator[slice]:
    """Pairs in parts of at most B: what compares each pair with all B texts then takes no more
    memory than the matrix of distances, though time for each pair.

    count (int): How many pairs there are.
    size (int): B.
    YIELDS (slice): A part of them.
    """
    for start in range(0, count, size):
        yield slice(start, start + size)
