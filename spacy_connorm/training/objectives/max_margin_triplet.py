"""All triplets that violate a margin."""

from typing import TYPE_CHECKING

from .checks import NORMALIZED_EUCLIDEAN, require_above_zero, require_distance, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def MaxMarginTriplet(
    *, distance: str = NORMALIZED_EUCLIDEAN, margin: float = 0.2
) -> "RelationLoss":
    """Build the max-margin triplet loss (Basaldella et al. 2020; in the ablation of Liu et al.
    2021, appendix, table 6).

    Over all triplets (a, p, n) of the batch whose term is above 0:

        mean(d_ap - d_an + margin)

    distance (str): "euclidean", "normalized_euclidean" or "cosine" (1 - cos).
    margin (float): In the unit of the distance.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_distance(distance)
    require_above_zero(margin=margin)
    require_libraries()
    import torch

    from .anchors import over_usable_anchors, zero_loss
    from .distances import DISTANCES, distance_matrix

    measure = DISTANCES[distance]()

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        distances = distance_matrix(measure, measure.maybe_normalize(vectors))
        counts = _count_violations(distances.detach(), relations, margin)
        violating = int(counts.clamp(min=0).sum(dtype=torch.float64))
        if violating == 0:
            return zero_loss(vectors)
        return (counts * distances).sum() / violating + margin

    return loss


def _count_violations(
    distances: "torch.Tensor", relations: "Relations", margin: float
) -> "torch.Tensor":
    """float32 (B, B): in how many violating triplets a distance is the positive's, less in how many
    it is the negative's. That is enough, as violations are linear in the distances; the library's
    TripletMarginLoss lists all B^3 triplets. Of the pairs at most B are compared at once with all
    texts, which takes no more memory than the matrix of distances.
    """
    counts = distances.new_zeros(distances.shape)
    anchors, positives = relations.positives.nonzero(as_tuple=True)
    size = len(distances)
    for own, near in zip(anchors.split(size), positives.split(size), strict=True):
        limits = distances[own, near].unsqueeze(1) + margin
        violating = distances.index_select(0, own) < limits
        violating &= relations.negatives.index_select(0, own)
        amounts = violating.float()
        counts[own, near] = amounts.sum(dim=1)
        counts.index_add_(0, own, amounts, alpha=-1)
    return counts
