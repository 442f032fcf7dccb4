"""All triplets that violate a margin."""

import torch

from .objective import require_above_zero, to_unit_length, zero_loss
from .pairs import PairObjective, Pairs, euclidean_distances


class MaxMarginTriplet(PairObjective):
    """`spacy-connorm.MaxMarginTriplet.v1`: the max-margin triplet loss (Basaldella et al. 2020; in
    the ablation of Liu et al. 2021, appendix, table 6).

    With d the Euclidean distance of the vectors scaled to length 1, over all triplets (a, p, n) of
    the batch whose term is above 0:

        mean(d_ap - d_an + margin)
    """

    def __init__(self, *, margin: float = 0.2) -> None:
        """margin (float): In the unit of the distance.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(margin=margin)
        self._margin = margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        distances = euclidean_distances(to_unit_length(vectors))
        counts = _count_violations(distances.detach(), pairs, self._margin)
        violating = int(counts.clamp(min=0).sum(dtype=torch.float64))
        if violating == 0:
            return zero_loss(vectors)
        return (counts * distances).sum() / violating + self._margin


def _count_violations(distances: torch.Tensor, pairs: Pairs, margin: float) -> torch.Tensor:
    """float32 (B, B): in how many violating triplets a distance is the positive's, less in how many
    it is the negative's. That is enough, as violations are linear in the distances; the library's
    TripletMarginLoss lists all B^3 triplets. Of the pairs at most B are compared at once with all
    texts, which takes no more memory than the matrix of distances.
    """
    counts = distances.new_zeros(distances.shape)
    anchors, positives = pairs.positives.nonzero(as_tuple=True)
    size = len(distances)
    for own, near in zip(anchors.split(size), positives.split(size), strict=True):
        limits = distances[own, near].unsqueeze(1) + margin
        violating = distances.index_select(0, own) < limits
        violating &= pairs.negatives.index_select(0, own)
        amounts = violating.float()
        counts[own, near] = amounts.sum(dim=1)
        counts.index_add_(0, own, amounts, alpha=-1)
    return counts
