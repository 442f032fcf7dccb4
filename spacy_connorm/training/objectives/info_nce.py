"""InfoNCE: each positive against all negatives of its anchor. Imports torch."""

import torch
from pytorch_metric_learning.losses import NTXentLoss

from ..relations import Relations
from .distances import Cosine
from .masks import OnRelations, hard_pairs, masked_logsumexp, mean_of


class InfoNceLoss(OnRelations, NTXentLoss):
    """Behind `spacy-connorm.InfoNce.v1`."""

    def __init__(self, *, temperature: float, mining_margin: float | None) -> None:
        """temperature (float): Divides the cosines.
        mining_margin (Optional[float]): As `hard_pairs` takes it.
        """
        super().__init__(temperature=temperature, distance=Cosine())
        self.mining_margin = mining_margin

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the ordered pairs of positives."""
        cosines = self.distance(vectors)
        hard = hard_pairs(cosines, relations, margin=self.mining_margin)
        logits = cosines / self.temperature
        negatives = masked_logsumexp(logits, hard.negatives)
        anchors, positives = hard.positives.nonzero(as_tuple=True)
        # -log(e^p / (e^p + sum of e^n)) is the softplus of log(sum of e^n) - p.
        losses = torch.nn.functional.softplus(negatives[anchors] - logits[anchors, positives])
        return mean_of(losses, vectors)
