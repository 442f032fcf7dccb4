"""Multi-Similarity over hard pairs, as SapBERT is trained. Imports torch."""

import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss as LibraryLoss

from ..relations import Relations
from .distances import Cosine
from .masks import OnRelations, hard_pairs, masked_logsumexp


class MultiSimilarityLoss(OnRelations, LibraryLoss):
    """Behind `spacy-connorm.MultiSimilarity.v1`."""

    def __init__(
        self, *, alpha: float, beta: float, base: float, mining_margin: float | None
    ) -> None:
        """alpha (float): Weighs positives by their similarity.
        beta (float): Weighs negatives by their similarity.
        base (float): The cosine that parts them.
        mining_margin (Optional[float]): As `hard_pairs` takes it.
        """
        super().__init__(alpha=alpha, beta=beta, base=base, distance=Cosine())
        self.mining_margin = mining_margin

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over all texts; 0 for those that are in no hard pair."""
        cosines = self.distance(vectors)
        hard = hard_pairs(cosines, relations, margin=self.mining_margin)
        above = cosines - self.base
        # log(1 + sum of exp(x)) is the softplus of the logsumexp of x.
        softplus = torch.nn.functional.softplus
        positives = softplus(masked_logsumexp(-self.alpha * above, hard.positives))
        negatives = softplus(masked_logsumexp(self.beta * above, hard.negatives))
        return (positives / self.alpha + negatives / self.beta).mean()
