"""Supervised contrastive loss: all positives of an anchor against all other texts."""

import torch
from pytorch_metric_learning.losses import SupConLoss

from .objective import require_above_zero
from .pairs import PairObjective, Pairs, anchors_of, cosines_of, library_losses


class SupervisedContrastive(PairObjective):
    """`spacy-connorm.SupervisedContrastive.v1`: the objective of Khosla et al. 2020, equation 2.

    With S the cosines over the temperature, for each anchor i over its positives p and all other
    texts a:

        log(sum_a exp(S_ia)) - mean_p S_ip

    The loss is the mean over the anchors.
    """

    def __init__(self, *, temperature: float = 0.05) -> None:
        """temperature (float): Divides the cosines.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(temperature=temperature)
        self._library = SupConLoss(temperature)

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        return library_losses(self._library, cosines_of(vectors), pairs)[anchors_of(pairs)].mean()
