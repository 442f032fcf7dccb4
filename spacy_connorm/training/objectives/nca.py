"""Neighbourhood components analysis: a soft nearest neighbour is of the same concept."""

import torch

from .objective import mean_of, require_above_zero, require_at_least_zero
from .pairs import PairObjective, Pairs, anchors_of, cosines_of, hard_pairs, masked_logsumexp


class Nca(PairObjective):
    """`spacy-connorm.Nca.v1`: neighbourhood components analysis (Goldberger et al. 2005; in the
    ablation of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With d the Euclidean distance of the vectors scaled to length 1, for each anchor i over its
    positives p and all other texts a:

        -log(sum_p exp(-scale d_ip^2) / sum_a exp(-scale d_ia^2))

    The loss is the mean over the anchors.
    """

    def __init__(self, *, scale: float = 20.0, mining_margin: float | None = None) -> None:
        """scale (float): Of the squared distances.
        mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(scale=scale)
        require_at_least_zero(mining_margin=mining_margin)
        self._scale, self._margin = scale, mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        # The library's NCALoss takes one label per text, and drops anchors whose sum underflows.
        cosines = cosines_of(vectors)
        hard = hard_pairs(cosines, pairs, margin=self._margin)
        # The squared distance of unit vectors is 2 - 2 cos, and the 2 cancels out in the quotient.
        logits = cosines * (2 * self._scale)
        others = hard.positives | hard.negatives
        losses = masked_logsumexp(logits, others) - masked_logsumexp(logits, hard.positives)
        return mean_of(losses[anchors_of(hard)], vectors)
