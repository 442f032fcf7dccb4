"""The objectives that rank the candidates of a mention: those of BCNH and BioSyn. They need lists
from `spacy-connorm.CandidateBatcher.v1`. pytorch-metric-learning has no losses over lists.
"""

from abc import abstractmethod
from math import log

import torch

from ...errors import require_choice, require_range
from ...index.search import COSINE, Metric
from ..batches import Rankings, Relevance
from .objective import Objective, mean_of, to_unit_length, zero_loss
from .pairs import masked_logsumexp

# The metric that an index needs to rank in the same way.
_METRICS: dict[str, Metric] = {"cosine": COSINE, "inner_product": "dot"}


class RankingObjective(Objective):
    """Scores candidates by their vectors and n-grams, and adds a loss over the scores and the norm
    loss. The score of a candidate c of a mention m, with s the similarity of vectors v and n the
    vectors of n-grams, is

        z_c = (s(v_m, v_c) + lambda cos(n_m, n_c)) / temperature

    The norm loss (Yan et al. 2021, equation 7, after Vulic and Mrksic 2018) is the mean over the
    hypernyms h of a mention, and then over the mentions that have any, of

        (|v_m| - |v_h|) / (|v_m| + |v_h|)
    """

    relations = Rankings
    norm_weight = 0.0

    def __init__(
        self,
        *,
        similarity: str = "cosine",
        temperature: float = 0.05,
        norm_weight: float | None = None,
        lexical_weight: float = 1.0,
        learning_rate: float = 0.01,
    ) -> None:
        """Store the settings.

        similarity (str): "cosine", or "inner_product", as in the paper, whose temperature is 1;
            search with the same `metric` of the index.
        temperature (float): Divides the scores.
        norm_weight (Optional[float]): The weight of the norm loss, 0 to leave it out; if None, 1 in
            `Bcnh` and 0 in `BioSyn`, as in the papers.
        lexical_weight (float): The initial lambda. Its logarithm is learned, so it stays above 0;
            if it starts at 0, as in BioSyn's code, it is learned directly, and counts as 0 when
            negative.
        learning_rate (float): The learning rate of lambda.
        RAISES (ConnormError): CN006 or CN118 for an invalid setting.
        """
        super().__init__()
        if norm_weight is not None:
            self.norm_weight = norm_weight
        require_choice("similarity", similarity, _METRICS)
        require_range(above=0, temperature=temperature)
        require_range(least=0, norm_weight=self.norm_weight, lexical_weight=lexical_weight)
        require_range(least=0, learning_rate=learning_rate)
        self.metric = _METRICS[similarity]
        self.learning_rate = learning_rate
        self._temperature = temperature
        self._from_zero = lexical_weight == 0
        if self._from_zero:
            self.lexical_weight = torch.nn.Parameter(torch.tensor(0.0))
        else:
            self.log_lexical_weight = torch.nn.Parameter(torch.tensor(log(lexical_weight)))

    def learned(self) -> dict[str, float]:
        """Get the current weight of the n-grams.

        RETURNS (Dict[str, float]): The weight, at least 0.
        """
        return {"lexical_weight": max(self._weight().item(), 0.0)}

    def _weight(self) -> torch.Tensor:
        return self.lexical_weight if self._from_zero else self.log_lexical_weight.exp()

    def loss(self, vectors: torch.Tensor, relations: Rankings) -> torch.Tensor:
        """Compute the loss; see `Objective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        points = to_unit_length(vectors) if self.metric == COSINE else vectors
        mentions, candidates = points[relations.mentions], points[relations.candidates]
        dense = torch.einsum("md,mkd->mk", mentions, candidates)
        scores = (dense + self._weight() * relations.lexical) / self._temperature
        loss = self.list_loss(scores, relations.relevance)
        if self.norm_weight:
            loss = loss + self.norm_weight * _norm_loss(vectors, relations)
        return loss

    @abstractmethod
    def list_loss(self, scores: torch.Tensor, relevance: torch.Tensor) -> torch.Tensor:
        """Compute the loss over the scores.

        scores (torch.Tensor): float32 (M, k).
        relevance (torch.Tensor): int64 (M, k), see `Relevance`.
        RETURNS (torch.Tensor): The mean over the mentions.
        """


class Bcnh(RankingObjective):
    """`spacy-connorm.Bcnh.v1`: the objective of Yan et al. 2021, section 2.

    With the scores z of `RankingObjective` and the relevance y_c of a candidate, 2 for a synonym, 1
    for a hypernym and 0 otherwise, the list-wise cross entropy, a mean over the mentions, of

        -sum_c softmax(y)_c log softmax(z)_c

    plus the norm loss.
    """

    norm_weight = 1.0

    def list_loss(self, scores: torch.Tensor, relevance: torch.Tensor) -> torch.Tensor:
        """Compute the loss over the scores; see `RankingObjective`.

        RETURNS (torch.Tensor): The mean over the mentions.
        """
        wanted = relevance.float().softmax(dim=1)
        return -(wanted * scores.log_softmax(dim=1)).sum(dim=1).mean()


class BioSyn(RankingObjective):
    """`spacy-connorm.BioSyn.v1`: the objective of Sung et al. 2020, which BCNH is compared with:
    with the scores z of `RankingObjective`, the marginal likelihood of the synonyms p among the
    candidates c

        -log(sum_p exp(z_p) / sum_c exp(z_c))

    The loss is the mean over the mentions that have a synonym among their candidates.
    """

    def list_loss(self, scores: torch.Tensor, relevance: torch.Tensor) -> torch.Tensor:
        """Compute the loss over the scores; see `RankingObjective`.

        RETURNS (torch.Tensor): The mean over the mentions.
        """
        synonyms = relevance == Relevance.SYNONYM
        losses = scores.logsumexp(dim=1) - masked_logsumexp(scores, synonyms)
        return mean_of(losses[synonyms.any(dim=1)], scores)


def _norm_loss(vectors: torch.Tensor, rankings: Rankings) -> torch.Tensor:
    """Compute the norm loss, from -1 to 1; 0 if no mention has a hypernym. The paper pads short
    lists of hypernyms; here, padding does not count.
    """
    is_hypernym = rankings.hypernyms >= 0
    has_hypernyms = is_hypernym.any(dim=1)
    if not has_hypernyms.any():
        return zero_loss(vectors)
    # A zero vector has no direction to grow in, so its gradient is zero.
    lengths = torch.linalg.vector_norm(vectors, dim=1)
    of_mentions = lengths[rankings.mentions].unsqueeze(1)
    of_hypernyms = lengths[rankings.hypernyms.clamp(min=0)]
    least = torch.finfo(vectors.dtype).tiny
    ratios = (of_mentions - of_hypernyms) / (of_mentions + of_hypernyms).clamp(min=least)
    means = (ratios * is_hypernym).sum(dim=1) / is_hypernym.sum(dim=1).clamp(min=1)
    return means[has_hypernyms].mean()
