"""Lists of candidates against their relevance. Imports torch."""

from math import log

import torch

from ..relations import Rankings
from ..relevance import Relevance
from .distances import to_unit_length
from .masks import masked_logsumexp, mean_of, nothing


class RankingLoss(torch.nn.Module):
    """Scores the candidates of mentions by their vectors and n-grams, and leaves to `loss_of` what
    is made of the scores. Adds the norm loss. The weight of the n-grams is learned."""

    ranked = True

    def __init__(
        self,
        *,
        normalized: bool,
        temperature: float,
        norm_weight: float,
        lexical_weight: float,
        learning_rate: float,
    ) -> None:
        """normalized (bool): Whether vectors are scaled to unit length to be compared.
        temperature (float): Divides the scores.
        norm_weight (float): Of the norm loss.
        lexical_weight (float): Where the weight of the n-grams starts.
        learning_rate (float): Of its logarithm.
        """
        super().__init__()
        self.normalized = normalized
        self.temperature = temperature
        self.norm_weight = norm_weight
        self.learning_rate = learning_rate
        self.log_lexical_weight = torch.nn.Parameter(torch.tensor(log(lexical_weight)))

    def learned(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The weight of the n-grams as it is."""
        return {"lexical_weight": self.log_lexical_weight.exp().item()}

    def forward(self, vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
        """vectors (torch.Tensor): (B, d), of any length.
        rankings (Rankings): Lists of the B texts.
        RETURNS (torch.Tensor): A float32 scalar.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.float()
            loss = self.loss_of(self._scores(vectors, rankings), rankings.relevance)
            if self.norm_weight:
                loss = loss + self.norm_weight * norm_loss(vectors, rankings)
            return loss

    def loss_of(self, scores: torch.Tensor, relevance: torch.Tensor) -> torch.Tensor:
        """scores (torch.Tensor): float32 (M, k).
        relevance (torch.Tensor): int64 (M, k).
        RETURNS (torch.Tensor): The loss, a scalar.
        """
        raise NotImplementedError

    def _scores(self, vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
        points = to_unit_length(vectors) if self.normalized else vectors
        dense = torch.einsum("md,mkd->mk", points[rankings.mentions], points[rankings.candidates])
        lexical = self.log_lexical_weight.exp() * rankings.lexical
        return (dense + lexical) / self.temperature


class ListWiseLoss(RankingLoss):
    """Behind `spacy-connorm.Bcnh.v1`."""

    def loss_of(self, scores: torch.Tensor, relevance: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the mentions."""
        wanted = relevance.float().softmax(dim=1)
        return -(wanted * scores.log_softmax(dim=1)).sum(dim=1).mean()


class MarginalLoss(RankingLoss):
    """Behind `spacy-connorm.BioSyn.v1`."""

    def loss_of(self, scores: torch.Tensor, relevance: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the mentions that have a synonym in their list."""
        synonyms = relevance == Relevance.SYNONYM
        losses = scores.logsumexp(dim=1) - masked_logsumexp(scores, synonyms)
        return mean_of(losses[synonyms.any(dim=1)], scores)


def norm_loss(vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
    """How much longer the vectors of mentions are than those of their hypernyms (Yan et al. 2021,
    equation 7, after Vulic and Mrksic 2018).

    vectors (torch.Tensor): float32 (B, d).
    rankings (Rankings): The paper fills short lists of hypernyms up; here those there are count.
    RETURNS (torch.Tensor): From -1 to 1: the mean over the hypernyms of a mention, and over the
        mentions that have any; 0 if none has.
    """
    there = rankings.hypernyms >= 0
    having = there.any(dim=1)
    if not having.any():
        return nothing(vectors)
    # A zero vector has no direction to grow in: its gradient is zero.
    lengths = torch.linalg.vector_norm(vectors, dim=1)
    own = lengths[rankings.mentions].unsqueeze(1)
    above = lengths[rankings.hypernyms.clamp(min=0)]
    ratios = (own - above) / (own + above).clamp(min=torch.finfo(vectors.dtype).tiny)
    means = (ratios * there).sum(dim=1) / there.sum(dim=1).clamp(min=1)
    return means[having].mean()
