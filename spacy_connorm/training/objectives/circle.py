"""Circle loss: each similarity is optimized at its own pace."""

import torch
from pytorch_metric_learning.losses import CircleLoss

from .objective import mean_of, require_above_zero, require_at_least_zero
from .pairs import PairObjective, Pairs, anchors_of, cosines_of, hard_pairs, library_losses


class Circle(PairObjective):
    """`spacy-connorm.Circle.v1`: the circle loss (Sun et al. 2020; in the ablation of Liu et al.
    2021, appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines and [x] = max(0, x), for each anchor a over its positives p and negatives n:

        log(1 + sum_n exp(gamma [S_an + m] (S_an - m))
              * sum_p exp(-gamma [1 + m - S_ap] (S_ap - 1 + m)))

    The loss is the mean over the anchors. The brackets are weights without gradients.
    """

    def __init__(
        self, *, m: float = 0.25, gamma: float = 256.0, mining_margin: float | None = None
    ) -> None:
        """m (float): The relaxation.
        gamma (float): The scale.
        mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_at_least_zero(m=m, mining_margin=mining_margin)
        require_above_zero(gamma=gamma)
        self._margin = mining_margin
        self._library = CircleLoss(m=m, gamma=gamma)

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        cosines = cosines_of(vectors)
        hard = hard_pairs(cosines, pairs, margin=self._margin)
        return mean_of(library_losses(self._library, cosines, hard)[anchors_of(hard)], vectors)
