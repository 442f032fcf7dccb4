"""Lifted structure: each positive pair against all negatives of both. Imports torch."""

import torch
from pytorch_metric_learning.losses import LiftedStructureLoss as LibraryLoss

from ..relations import Relations
from .distances import Euclidean
from .masks import OnRelations, masked_logsumexp, mean_of, mine


class LiftedStructureLoss(OnRelations, LibraryLoss):
    """Behind `spacy-connorm.LiftedStructure.v1`."""

    def __init__(self, *, margin: float, mining_margin: float | None) -> None:
        """margin (float): Up to which negatives count fully, in the distance of unit vectors.
        mining_margin (Optional[float]): As `hard_pairs` takes it.
        """
        super().__init__(neg_margin=margin, distance=Euclidean(normalized=True))
        self.mining_margin = mining_margin

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the ordered pairs of positives."""
        distances = self.distance(vectors)
        if self.mining_margin is not None:
            relations = mine(distances.detach(), relations, margin=self.mining_margin)
        negatives = masked_logsumexp(self.neg_margin - distances, relations.negatives)
        anchors, positives = relations.positives.nonzero(as_tuple=True)
        structure = torch.logaddexp(negatives[anchors], negatives[positives])
        losses = torch.relu(structure + distances[anchors, positives]).square() / 2
        return mean_of(losses, vectors)
