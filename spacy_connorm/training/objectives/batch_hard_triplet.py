"""The hardest positive and the hardest negative of each anchor."""

from typing import TYPE_CHECKING

from .checks import EUCLIDEAN, require_at_least_zero, require_distance, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def BatchHardTriplet(*, distance: str = EUCLIDEAN, margin: float | None = None) -> "RelationLoss":
    """Build the objective of Xu and Bethard 2021, section 3.1.

    For each anchor a with its farthest positive p and its nearest negative n in the batch:

        ln(1 + exp(d_ap - d_an))

    The loss is the mean over the anchors.

    distance (str): "euclidean" (the paper's), "normalized_euclidean" or "cosine" (1 - cos).
    margin (Optional[float]): Use `max(0, d_ap - d_an + margin)` instead, in the distance's unit.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_distance(distance)
    require_at_least_zero(margin=margin)
    require_libraries()
    import torch
    from torch.nn.functional import relu, softplus

    from .anchors import over_usable_anchors, usable_anchors
    from .distances import DISTANCES, distance_matrix
    from .masks import Mask

    measure = DISTANCES[distance]()

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        anchors = usable_anchors(relations)
        points = measure.maybe_normalize(vectors)
        with torch.no_grad():
            distances = distance_matrix(measure, points)
            farthest = Mask.of(relations.positives).largest(distances)[1][anchors]
            nearest = Mask.of(relations.negatives).largest(-distances)[1][anchors]
        # The library's TripletMarginLoss takes distances from the whole matrix: that is less exact
        # for near vectors, and the matrix's gradients cost more than those of these few distances.
        own, positives, negatives = points[anchors], points[farthest], points[nearest]
        apart = measure.margin(
            measure.pairwise_distance(own, positives), measure.pairwise_distance(own, negatives)
        )
        return (softplus(apart) if margin is None else relu(apart + margin)).mean()

    return loss
