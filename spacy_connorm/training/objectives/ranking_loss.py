"""The loss over ranked candidates that BCNH and BioSyn share. Imports torch."""

from collections.abc import Callable
from math import log

import torch

from ..relations import Rankings
from .anchors import zero_loss
from .distances import to_unit_length

# Scores and relevance, (M, k) each, to a scalar.
ListLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class RankingLoss(torch.nn.Module):
    """Scores candidates by their vectors and n-grams, and adds a loss over the scores and the norm
    loss. The weight of the n-grams is learned.
    """

    ranked = True

    def __init__(
        self,
        list_loss: ListLoss,
        *,
        normalized: bool,
        temperature: float,
        norm_weight: float,
        lexical_weight: float,
        learning_rate: float,
    ) -> None:
        """list_loss (Callable): The loss over scores float32 (M, k) and relevance int64 (M, k).
        normalized (bool): Whether to compare vectors scaled to unit length.
        temperature (float): Divides the scores.
        norm_weight (float): Of the norm loss.
        lexical_weight (float): The initial weight of the n-grams. From 0 it is learned itself,
            otherwise its logarithm.
        learning_rate (float): Of what is learned.
        """
        super().__init__()
        self.list_loss = list_loss
        self.normalized = normalized
        self.temperature = temperature
        self.norm_weight = norm_weight
        self.learning_rate = learning_rate
        self._from_zero = lexical_weight == 0
        if self._from_zero:
            self.lexical_weight = torch.nn.Parameter(torch.tensor(0.0))
        else:
            self.log_lexical_weight = torch.nn.Parameter(torch.tensor(log(lexical_weight)))

    def learned(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The current weight of the n-grams, at least 0."""
        return {"lexical_weight": max(self._weight().item(), 0.0)}

    def _weight(self) -> torch.Tensor:
        return self.lexical_weight if self._from_zero else self.log_lexical_weight.exp()

    def forward(self, vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
        """vectors (torch.Tensor): (B, d), of any length.
        rankings (Rankings): Lists of the B texts.
        RETURNS (torch.Tensor): A float32 scalar.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.float()
            loss = self.list_loss(self._scores(vectors, rankings), rankings.relevance)
            if self.norm_weight:
                loss = loss + self.norm_weight * norm_loss(vectors, rankings)
            return loss

    def _scores(self, vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
        points = to_unit_length(vectors) if self.normalized else vectors
        dense = torch.einsum("md,mkd->mk", points[rankings.mentions], points[rankings.candidates])
        lexical = self._weight() * rankings.lexical
        return (dense + lexical) / self.temperature


def norm_loss(vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
    """How much longer the vectors of mentions are than those of their hypernyms (Yan et al. 2021,
    equation 7, after Vulic and Mrksic 2018).

    vectors (torch.Tensor): float32 (B, d).
    rankings (Rankings): The paper pads short lists of hypernyms; padding does not count here.
    RETURNS (torch.Tensor): From -1 to 1: the mean over the hypernyms of a mention, and over the
        mentions that have any; 0 if none has.
    """
    is_hypernym = rankings.hypernyms >= 0
    has_hypernyms = is_hypernym.any(dim=1)
    if not has_hypernyms.any():
        return zero_loss(vectors)
    # A zero vector has no direction to grow in: its gradient is zero.
    lengths = torch.linalg.vector_norm(vectors, dim=1)
    own = lengths[rankings.mentions].unsqueeze(1)
    above = lengths[rankings.hypernyms.clamp(min=0)]
    ratios = (own - above) / (own + above).clamp(min=torch.finfo(vectors.dtype).tiny)
    means = (ratios * is_hypernym).sum(dim=1) / is_hypernym.sum(dim=1).clamp(min=1)
    return means[has_hypernyms].mean()
