"""Neighbourhood components analysis: a soft nearest neighbour is of the same concept. Imports
torch."""

import torch
from pytorch_metric_learning.losses import NCALoss as LibraryLoss

from ..relations import Relations
from .distances import Cosine
from .masks import OnRelations, masked_logsumexp, usable_anchors


class NcaLoss(OnRelations, LibraryLoss):
    """Behind `spacy-connorm.Nca.v1`."""

    def __init__(self, *, scale: float) -> None:
        """scale (float): Of the squared distances."""
        super().__init__(softmax_scale=scale, distance=Cosine())

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the anchors."""
        # The squared distance of unit vectors is 2 - 2 cos, and the 2 is lost in the quotient.
        logits = self.distance(vectors) * (2 * self.softmax_scale)
        others = relations.positives | relations.negatives
        losses = masked_logsumexp(logits, others) - masked_logsumexp(logits, relations.positives)
        return losses[usable_anchors(relations)].mean()
