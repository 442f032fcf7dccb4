"""The registered objectives that rank the candidates of a mention, those of BioSyn and BCNH. They
want lists of `spacy-connorm.CandidateBatcher.v1`. Light to import: torch comes with the call."""

from typing import TYPE_CHECKING

from .settings import (
    COSINE,
    check_not_negative,
    check_positive,
    check_similarity,
    require_libraries,
)

if TYPE_CHECKING:
    from .ranked_lists import RankingLoss


def Bcnh(
    *,
    similarity: str = COSINE,
    temperature: float = 0.05,
    norm_weight: float = 1.0,
    lexical_weight: float = 1.0,
    learning_rate: float = 0.01,
) -> "RankingLoss":
    """Build the objective of Yan et al. 2021, section 2. The score of a candidate c of a mention m
    is `z_c = (s(v_m, v_c) + lambda cos(n_m, n_c)) / temperature`, s being the similarity of vectors
    and n the vectors of n-grams; its relevance y_c is 2 for a synonym, 1 for a hypernym and 0
    otherwise. The list-wise cross entropy is the mean over the mentions of `-sum_c softmax(y)_c log
    softmax(z)_c`. The norm loss, which is added, is the mean over the hypernyms h of a mention of
    `(|v_m| - |v_h|) / (|v_m| + |v_h|)`, and then over the mentions that have any.

    similarity (str): "cosine", as an index searches, or "inner_product", as in the paper, whose
        temperature is 1.
    temperature (float): Divides the scores.
    norm_weight (float): Of the norm loss; 1 in the paper, 0 to do without.
    lexical_weight (float): Where lambda starts. Its logarithm is learned, so it stays above 0.
    learning_rate (float): Of that logarithm.
    RETURNS (RankingLoss): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    _check(similarity, temperature, norm_weight, lexical_weight, learning_rate)
    from .ranked_lists import ListWiseLoss

    return ListWiseLoss(
        normalized=similarity == COSINE,
        temperature=temperature,
        norm_weight=norm_weight,
        lexical_weight=lexical_weight,
        learning_rate=learning_rate,
    )


def BioSyn(
    *,
    similarity: str = COSINE,
    temperature: float = 0.05,
    norm_weight: float = 0.0,
    lexical_weight: float = 1.0,
    learning_rate: float = 0.01,
) -> "RankingLoss":
    """Build the objective of Sung et al. 2020, with which BCNH is compared: the marginal likelihood
    of the synonyms among the candidates, `-log(sum_p exp(z_p) / sum_c exp(z_c))`, the mean over the
    mentions that have a synonym among them. Scores, the norm loss and all settings are those of
    `Bcnh`.

    similarity (str): "cosine" or "inner_product".
    temperature (float): Divides the scores.
    norm_weight (float): Of the norm loss; 0 to do without, as BioSyn does.
    lexical_weight (float): Where lambda starts.
    learning_rate (float): Of its logarithm.
    RETURNS (RankingLoss): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    _check(similarity, temperature, norm_weight, lexical_weight, learning_rate)
    from .ranked_lists import MarginalLoss

    return MarginalLoss(
        normalized=similarity == COSINE,
        temperature=temperature,
        norm_weight=norm_weight,
        lexical_weight=lexical_weight,
        learning_rate=learning_rate,
    )


def _check(
    similarity: str,
    temperature: float,
    norm_weight: float,
    lexical_weight: float,
    learning_rate: float,
) -> None:
    check_similarity(similarity)
    check_positive(temperature=temperature, lexical_weight=lexical_weight)
    check_not_negative(norm_weight=norm_weight, learning_rate=learning_rate)
    require_libraries()
