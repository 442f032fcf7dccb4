"""The objectives that rank the candidates of a mention: those of BCNH and BioSyn. They need lists
of `spacy-connorm.CandidateBatcher.v1`. pytorch-metric-learning has no losses over lists."""

from typing import TYPE_CHECKING

from ..relevance import Relevance
from .checks import (
    COSINE,
    require_above_zero,
    require_at_least_zero,
    require_libraries,
    require_similarity,
)

if TYPE_CHECKING:
    import torch

    from .ranking_loss import ListLoss, RankingLoss


def Bcnh(
    *,
    similarity: str = COSINE,
    temperature: float = 0.05,
    norm_weight: float = 1.0,
    lexical_weight: float = 1.0,
    learning_rate: float = 0.01,
) -> "RankingLoss":
    """Build the objective of Yan et al. 2021, section 2.

    The score of a candidate c of a mention m, with s the similarity of vectors v and n the vectors
    of n-grams, is

        z_c = (s(v_m, v_c) + lambda cos(n_m, n_c)) / temperature

    and its relevance y_c is 2 for a synonym, 1 for a hypernym and 0 otherwise. The loss is the mean
    over the mentions of the list-wise cross entropy

        -sum_c softmax(y)_c log softmax(z)_c

    plus the norm loss: the mean over the hypernyms h of a mention, and then over the mentions that
    have any, of

        (|v_m| - |v_h|) / (|v_m| + |v_h|)

    similarity (str): "cosine", or "inner_product", as in the paper, whose temperature is 1; search
        with the same: `metric` of the index.
    temperature (float): Divides the scores.
    norm_weight (float): Of the norm loss; 1 in the paper, 0 to leave it out.
    lexical_weight (float): The initial lambda. Its logarithm is learned, so it stays above 0; from
        0, as in BioSyn's code, it is learned itself, and counts as 0 below that.
    learning_rate (float): Of what is learned.
    RETURNS (RankingLoss): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    return _build(
        _list_wise_loss, similarity, temperature, norm_weight, lexical_weight, learning_rate
    )


def BioSyn(
    *,
    similarity: str = COSINE,
    temperature: float = 0.05,
    norm_weight: float = 0.0,
    lexical_weight: float = 1.0,
    learning_rate: float = 0.01,
) -> "RankingLoss":
    """Build the objective of Sung et al. 2020, which BCNH is compared with: the marginal likelihood
    of the synonyms p among the candidates c

        -log(sum_p exp(z_p) / sum_c exp(z_c))

    The loss is the mean over the mentions that have a synonym among their candidates. Scores, norm
    loss and settings are those of `Bcnh`.

    similarity (str): "cosine" or "inner_product".
    temperature (float): Divides the scores.
    norm_weight (float): Of the norm loss; 0 to leave it out, as BioSyn does.
    lexical_weight (float): The initial lambda, as for `Bcnh`.
    learning_rate (float): Of what is learned.
    RETURNS (RankingLoss): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    return _build(
        _marginal_loss, similarity, temperature, norm_weight, lexical_weight, learning_rate
    )


def _build(
    list_loss: "ListLoss",
    similarity: str,
    temperature: float,
    norm_weight: float,
    lexical_weight: float,
    learning_rate: float,
) -> "RankingLoss":
    require_similarity(similarity)
    require_above_zero(temperature=temperature)
    require_at_least_zero(
        norm_weight=norm_weight, lexical_weight=lexical_weight, learning_rate=learning_rate
    )
    require_libraries()
    from .ranking_loss import RankingLoss

    return RankingLoss(
        list_loss,
        normalized=similarity == COSINE,
        temperature=temperature,
        norm_weight=norm_weight,
        lexical_weight=lexical_weight,
        learning_rate=learning_rate,
    )


def _list_wise_loss(scores: "torch.Tensor", relevance: "torch.Tensor") -> "torch.Tensor":
    """scores (torch.Tensor): float32 (M, k).
    relevance (torch.Tensor): int64 (M, k).
    RETURNS (torch.Tensor): The mean over the mentions.
    """
    wanted = relevance.float().softmax(dim=1)
    return -(wanted * scores.log_softmax(dim=1)).sum(dim=1).mean()


def _marginal_loss(scores: "torch.Tensor", relevance: "torch.Tensor") -> "torch.Tensor":
    """scores (torch.Tensor): float32 (M, k).
    relevance (torch.Tensor): int64 (M, k).
    RETURNS (torch.Tensor): The mean over the mentions that have a synonym in their list.
    """
    from .anchors import mean_of
    from .masks import masked_logsumexp

    synonyms = relevance == Relevance.SYNONYM
    losses = scores.logsumexp(dim=1) - masked_logsumexp(scores, synonyms)
    return mean_of(losses[synonyms.any(dim=1)], scores)
