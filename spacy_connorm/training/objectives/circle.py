"""Circle loss: each cosine at its own pace. Imports torch."""

import torch
from pytorch_metric_learning.losses import CircleLoss as LibraryLoss

from ..relations import Relations
from .distances import Cosine
from .masks import OnRelations, hard_pairs, masked_logsumexp, mean_of, usable_anchors


class CircleLoss(OnRelations, LibraryLoss):
    """Behind `spacy-connorm.Circle.v1`."""

    def __init__(self, *, m: float, gamma: float, mining_margin: float | None) -> None:
        """m (float): The relaxation.
        gamma (float): The scale.
        mining_margin (Optional[float]): As `hard_pairs` takes it.
        """
        super().__init__(m=m, gamma=gamma, distance=Cosine())
        self.mining_margin = mining_margin

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the anchors that are in a hard pair."""
        cosines = self.distance(vectors)
        hard = hard_pairs(cosines, relations, margin=self.mining_margin)
        # The paces are weights: no gradients flow through them.
        now = cosines.detach()
        toward = -self.gamma * torch.relu(self.op - now) * (cosines - self.delta_p)
        apart = self.gamma * torch.relu(now - self.on) * (cosines - self.delta_n)
        losses = self.soft_plus(
            masked_logsumexp(toward, hard.positives) + masked_logsumexp(apart, hard.negatives)
        )
        return mean_of(losses[usable_anchors(hard)], vectors)
