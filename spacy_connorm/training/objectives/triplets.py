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


def positive_pairs(positives: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """All pairs of anchor and positive, at most B at once: what compares each of them with all
    texts then takes no more memory than the matrix of distances, though time for each pair.

    positives (torch.Tensor): bool (B, B).
    YIELDS (Tuple[torch.Tensor, torch.Tensor]): int64 (n,): anchors and positives.
    """
    anchors, columns = positives.nonzero(as_tuple=True)
    yield from zip(anchors.split(len(positives)), columns.split(len(positives)), strict=True)
