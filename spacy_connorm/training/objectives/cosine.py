"""Cosine loss: cosines of positives go to 1, those of negatives below a margin."""

import torch

from .objective import require_at_least_zero, require_cosine
from .pairs import PairObjective, Pairs, cosines_of, hard_pairs


class Cosine(PairObjective):
    """`spacy-connorm.Cosine.v1`: the cosine loss (Phan et al. 2019, as a loss over pairs; in the
    ablation of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines, over all pairs of positives (a, p) and those pairs of negatives (a, n) whose
    term is above 0:

        mean(1 - S_ap) + mean(S_an - margin)
    """

    def __init__(self, *, margin: float = 0.0, mining_margin: float | None = None) -> None:
        """margin (float): The cosine that negatives may have.
        mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_cosine(margin=margin)
        require_at_least_zero(mining_margin=mining_margin)
        self._margin, self._mining_margin = margin, mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        # The library's ContrastiveLoss takes lists of pairs: twice the time for 1,500 texts.
        similarities = cosines_of(vectors)
        hard = hard_pairs(similarities, pairs, margin=self._mining_margin)
        positives = torch.relu(1 - similarities) * hard.positives.float()
        negatives = torch.relu(similarities - self._margin) * hard.negatives.float()
        violating = (negatives.detach() > 0).sum()
        of_positives = positives.sum() / hard.positives.sum().clamp(min=1)
        return of_positives + negatives.sum() / violating.clamp(min=1)
