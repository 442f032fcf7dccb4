"""The nearest negative beyond each positive."""

from typing import TYPE_CHECKING

from .checks import NORMALIZED_EUCLIDEAN, require_above_zero, require_distance, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def SemiHardTriplet(*, distance: str = NORMALIZED_EUCLIDEAN, margin: float = 0.2) -> "RelationLoss":
    """Build the triplet loss with FaceNet's mining (Schroff et al. 2015, section 3.2).

    For each pair of anchor a and positive p with its nearest negative n for which
    d_ap < d_an < d_ap + margin:

        d_ap - d_an + margin

    The loss is the mean over the pairs that have such a negative.

    distance (str): "euclidean", "normalized_euclidean" or "cosine" (1 - cos).
    margin (float): In the unit of the distance.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_distance(distance)
    require_above_zero(margin=margin)
    require_libraries()
    from torch.nn.functional import relu

    from .anchors import mean_of, over_usable_anchors
    from .distances import DISTANCES, distance_matrix

    measure = DISTANCES[distance]()

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        distances = distance_matrix(measure, measure.maybe_normalize(vectors))
        anchors, positives, negatives = _mine_semi_hard(distances.detach(), relations, margin)
        apart = distances[anchors, positives] - distances[anchors, negatives]
        return mean_of(relu(apart + margin), vectors)

    return loss


def _mine_semi_hard(
    distances: "torch.Tensor", relations: "Relations", margin: float
) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    """The library's TripletMarginMiner lists all B^3 triplets. Comparing at most B pairs at once
    with all texts takes no more memory than the matrix of distances.
    """
    import torch

    from .masks import OUT

    anchors, positives = relations.positives.nonzero(as_tuple=True)
    size = len(distances)
    mined = []
    for own, near in zip(anchors.split(size), positives.split(size), strict=True):
        rows = distances.index_select(0, own)
        limits = distances[own, near].unsqueeze(1)
        semi_hard = relations.negatives.index_select(0, own)
        semi_hard &= rows > limits
        semi_hard &= rows < limits + margin
        found = semi_hard.any(dim=1)
        nearest = rows.sub_(semi_hard.logical_not_().float().mul_(OUT)).argmin(dim=1)
        mined.append(torch.stack([own, near, nearest])[:, found])
    found_anchors, found_positives, found_negatives = torch.cat(mined, dim=1)
    return found_anchors, found_positives, found_negatives
