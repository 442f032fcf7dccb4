"""Lifted structure: each pair of positives against all negatives of both."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_at_least_zero, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def LiftedStructure(*, margin: float = 0.5, mining_margin: float | None = None) -> "RelationLoss":
    """Build the lifted structure loss (Oh Song et al. 2016; in the ablation of Liu et al. 2021,
    appendix, table 6, which trained all objectives on hard pairs).

    With d the Euclidean distance of the vectors scaled to length 1, for each pair of positives
    (a, p) over the negatives n of a and the negatives m of p:

        max(0, d_ap + log(sum_n exp(margin - d_an) + sum_m exp(margin - d_pm)))^2 / 2

    The loss is the mean over the pairs.

    margin (float): In the unit of the distance.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_above_zero(margin=margin)
    require_at_least_zero(mining_margin=mining_margin)
    require_libraries()
    import torch

    from .anchors import mean_of, over_usable_anchors
    from .distances import StableEuclidean
    from .masks import masked_logsumexp
    from .mining import mine

    distance = StableEuclidean(normalized=True)

    # The library's LiftedStructureLoss compares each pair of positives with all pairs of negatives
    # of the batch: three billion for 1,500 texts.
    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        distances = distance(vectors)
        if mining_margin is not None:
            relations = mine(distances.detach(), relations, margin=mining_margin)
        negatives = masked_logsumexp(margin - distances, relations.negatives)
        anchors, positives = relations.positives.nonzero(as_tuple=True)
        structure = torch.logaddexp(negatives[anchors], negatives[positives])
        losses = torch.relu(structure + distances[anchors, positives]).square() / 2
        return mean_of(losses, vectors)

    return loss
