"""InfoNCE: each positive against all negatives of its anchor."""

import torch
from torch.nn.functional import softplus

from .objective import mean_of, require_above_zero, require_at_least_zero
from .pairs import PairObjective, Pairs, cosines_of, hard_pairs, masked_logsumexp


class InfoNce(PairObjective):
    """`spacy-connorm.InfoNce.v1`: InfoNCE (Oord et al. 2018; in the ablation of Liu et al. 2021,
    appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines over the temperature, for each pair of anchor a and positive p over the
    negatives n of a:

        -log(exp(S_ap) / (exp(S_ap) + sum_n exp(S_an)))

    The loss is the mean over the pairs.
    """

    def __init__(self, *, temperature: float = 0.07, mining_margin: float | None = None) -> None:
        """temperature (float): Divides the cosines.
        mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(temperature=temperature)
        require_at_least_zero(mining_margin=mining_margin)
        self._temperature, self._margin = temperature, mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        # The library's NTXentLoss compares each pair of positives with all pairs of negatives of
        # the batch: three billion for 1,500 texts.
        cosines = cosines_of(vectors)
        hard = hard_pairs(cosines, pairs, margin=self._margin)
        logits = cosines / self._temperature
        negatives = masked_logsumexp(logits, hard.negatives)
        anchors, positives = hard.positives.nonzero(as_tuple=True)
        # -log(e^p / (e^p + sum of e^n)) is the softplus of log(sum of e^n) - p.
        return mean_of(softplus(negatives[anchors] - logits[anchors, positives]), vectors)
