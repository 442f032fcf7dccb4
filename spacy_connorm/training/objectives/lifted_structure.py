"""Lifted structure: each pair of positives against all negatives of both."""

import torch

from .objective import mean_of, require_above_zero, require_at_least_zero, to_unit_length
from .pairs import PairObjective, Pairs, euclidean_distances, masked_logsumexp, mine


class LiftedStructure(PairObjective):
    """`spacy-connorm.LiftedStructure.v1`: the lifted structure loss (Oh Song et al. 2016; in the
    ablation of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With d the Euclidean distance of the vectors scaled to length 1, for each pair of positives
    (a, p) over the negatives n of a and the negatives m of p:

        max(0, d_ap + log(sum_n exp(margin - d_an) + sum_m exp(margin - d_pm)))^2 / 2

    The loss is the mean over the pairs.
    """

    def __init__(self, *, margin: float = 0.5, mining_margin: float | None = None) -> None:
        """margin (float): In the unit of the distance.
        mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(margin=margin)
        require_at_least_zero(mining_margin=mining_margin)
        self._margin, self._mining_margin = margin, mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        # The library's LiftedStructureLoss compares each pair of positives with all pairs of
        # negatives of the batch: three billion for 1,500 texts.
        distances = euclidean_distances(to_unit_length(vectors))
        if self._mining_margin is not None:
            pairs = mine(distances.detach(), pairs, margin=self._mining_margin)
        negatives = masked_logsumexp(self._margin - distances, pairs.negatives)
        anchors, positives = pairs.positives.nonzero(as_tuple=True)
        structure = torch.logaddexp(negatives[anchors], negatives[positives])
        losses = torch.relu(structure + distances[anchors, positives]).square() / 2
        return mean_of(losses, vectors)
