"""Cosines of positives to 1, those of negatives under a margin. Imports torch."""

import torch
from pytorch_metric_learning.losses import ContrastiveLoss

from ..relations import Relations
from .distances import Cosine
from .masks import OnRelations, hard_pairs


class CosineLoss(OnRelations, ContrastiveLoss):
    """Behind `spacy-connorm.Cosine.v1`."""

    def __init__(self, *, margin: float, mining_margin: float | None) -> None:
        """margin (float): The cosine that negatives may have.
        mining_margin (Optional[float]): As `hard_pairs` takes it.
        """
        super().__init__(pos_margin=1, neg_margin=margin, distance=Cosine())
        self.mining_margin = mining_margin

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the pairs of positives, and that over the pairs of
        negatives that exceed the margin, added."""
        cosines = self.distance(vectors)
        hard = hard_pairs(cosines, relations, margin=self.mining_margin)
        positives = self.get_per_pair_loss(cosines, "pos") * hard.positives.float()
        negatives = self.get_per_pair_loss(cosines, "neg") * hard.negatives.float()
        violating = (negatives.detach() > 0).sum()
        return positives.sum() / hard.positives.sum().clamp(
            min=1
        ) + negatives.sum() / violating.clamp(min=1)
