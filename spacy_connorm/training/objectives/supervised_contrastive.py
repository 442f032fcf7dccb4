"""Supervised contrastive: all positives of an anchor against all other texts. Imports torch."""

import torch
from pytorch_metric_learning.losses import SupConLoss

from ..relations import Relations
from .distances import Cosine
from .masks import OnRelations, masked_logsumexp, usable_anchors


class SupervisedContrastiveLoss(OnRelations, SupConLoss):
    """Behind `spacy-connorm.SupervisedContrastive.v1`."""

    def __init__(self, *, temperature: float) -> None:
        """temperature (float): Divides the cosines."""
        super().__init__(temperature=temperature, distance=Cosine())

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the anchors."""
        logits = self.distance(vectors) / self.temperature
        positives = relations.positives.float()
        means = (logits * positives).sum(dim=1) / positives.sum(dim=1).clamp(min=1)
        others = relations.positives | relations.negatives
        losses = masked_logsumexp(logits, others) - means
        return losses[usable_anchors(relations)].mean()
