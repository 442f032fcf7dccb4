"""Hard pairs. Imports torch."""

import torch

from ..relations import Relations
from .distances import chord_lengths
from .masks import Mask


def hard_pairs(cosines: torch.Tensor, relations: Relations, *, margin: float | None) -> Relations:
    """Mine hard pairs by the Euclidean distances of the vectors scaled to length 1, as SapBERT
    does.

    cosines (torch.Tensor): float32 (B, B).
    relations (Relations): Rows are anchors.
    margin (Optional[float]): In the unit of the distances; None keeps all pairs.
    RETURNS (Relations): The pairs that are kept.
    """
    if margin is None:
        return relations
    return mine(chord_lengths(cosines), relations, margin=margin)


def mine(distances: torch.Tensor, relations: Relations, *, margin: float) -> Relations:
    """Keep the pairs of hard triplets (Liu et al. 2021, section 2, equation 1): a triplet is hard
    unless its positive is nearer than its negative by the margin. The nearest negative decides for
    a positive and the farthest positive for a negative, so no triplet is listed, as the library's
    `TripletMarginMiner` does.

    distances (torch.Tensor): float32 (B, B), without gradients.
    relations (Relations): Rows are anchors.
    margin (float): In the unit of the distances.
    RETURNS (Relations): Positives with d_ap + margin >= min d_an, negatives with d_an <= max d_ap +
        margin.
    """
    nearest = -Mask.of(relations.negatives).largest(-distances)[0].unsqueeze(1)
    farthest = Mask.of(relations.positives).largest(distances)[0].unsqueeze(1)
    return relations._replace(
        positives=relations.positives & (nearest - distances <= margin),
        negatives=relations.negatives & (distances - farthest <= margin),
    )
