"""Dev scores of a hybrid encoder by the weight of its n-grams."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from thinc.api import Model

from ..encoders.hybrid import is_hybrid, lexical_weight, reweighed
from ..linker.lookup import ConceptLookup
from .metrics import ALL, UNSEEN, Evaluation, Ranks, hits, mean, score_predictions
from .protocol import Gold, Prediction
from .report import Row, percent

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_Answer = TypeVar("_Answer")


def own_weight(encoder: Model) -> float:
    """RETURNS (float): The weight of the lexical cosine; 0 for an encoder that is not hybrid."""
    return lexical_weight(encoder) if is_hybrid(encoder) else 0.0


def weigh(encoder: Model, weights: Sequence[float]) -> dict[float, Model]:
    """Give an encoder other weights.

    encoder (Model[List[str], Floats2d]): The encoder, a hybrid one if there are weights.
    weights (Sequence[float]): Weights of the lexical cosine, beside the current one.
    RETURNS (Dict[float, Model]): Encoders that share all parts, by weight, ascending.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN309 for a weight below 0.
    """
    others = {weight: reweighed(encoder, weight) for weight in weights}
    return dict(sorted({**others, own_weight(encoder): encoder}.items()))


def ask_with(
    lookup: ConceptLookup, encoders: Mapping[float, Model], answer: Callable[[], _Answer]
) -> dict[float, _Answer]:
    """Ask a pipeline with each of several encoders.

    lookup (ConceptLookup): The pipeline's lookup; restored afterwards.
    encoders (Mapping[float, Model]): From `weigh`.
    answer (Callable[[], Any]): Asks the pipeline.
    RETURNS (Dict[float, Any]): What it answers, by weight.
    """
    own = lookup.encoder
    answers = {}
    try:
        for weight, encoder in encoders.items():
            lookup.use(encoder)
            answers[weight] = answer()
    finally:
        lookup.use(own)
    return answers


def score_weights(
    lookup: ConceptLookup,
    gold: Sequence[Gold],
    answer: Callable[[], Sequence[Prediction]],
    weights: Sequence[float] = WEIGHTS,
) -> dict[float, Evaluation]:
    """Score a pipeline with each weight. Nothing is indexed or fitted again.

    lookup (ConceptLookup): The pipeline's lookup; restored afterwards.
    gold (Sequence[Gold]): The gold standard of n mentions of dev data.
    answer (Callable[[], Sequence[Prediction]]): Gives the pipeline's answers to the n mentions.
    weights (Sequence[float]): Weights of lexical cosines to score, beside the current one.
    RETURNS (Dict[float, Evaluation]): The scores by weight.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN309 for a weight below 0.
    """
    found = ask_with(lookup, weigh(lookup.encoder, weights), answer)
    return {weight: score_predictions(gold, each) for weight, each in found.items()}


def best_weight(ranks: Mapping[float, Ranks]) -> float:
    """ranks (Mapping[float, Ranks]): Of the right answers to the same mentions, by weight.
    RETURNS (float): The weight with the highest lenient Acc@1; among ties the highest strict Acc@1,
        then the smallest weight.
    """
    return max(ranks, key=lambda weight: (*_first_places(ranks[weight]), -weight))


def weight_rows(scores: Mapping[float, Evaluation]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row per weight: "lexical weight", "lenient@1", "strict@1"
    and, if D is known, "unseen lenient@1" in percent; "best" marks the best.
    """
    best = best_weight({weight: each.ranks[ALL] for weight, each in scores.items()})
    rows = []
    for weight, evaluation in scores.items():
        lenient, strict = map(percent, _first_places(evaluation.ranks[ALL]))
        row = {"lexical weight": weight, "lenient@1": lenient, "strict@1": strict}
        if UNSEEN in evaluation.ranks:
            unseen = hits(evaluation.ranks[UNSEEN].lenient, 1)
            row["unseen lenient@1"] = percent(mean(unseen))
        rows.append({**row, "best": "best" if weight == best else ""})
    return rows


def _first_places(ranks: Ranks) -> tuple[float, float]:
    return mean(hits(ranks.lenient, 1)) or 0.0, mean(hits(ranks.strict, 1)) or 0.0
