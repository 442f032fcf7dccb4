"""Dev scores of a hybrid encoder by the weight of its n-grams."""

from collections.abc import Callable, Mapping, Sequence

from ..encoders.hybrid import lexical_weight, reweighed
from ..linker.lookup import ConceptLookup
from .metrics import ALL, UNSEEN, Evaluation, hits, mean, score_predictions
from .protocol import Gold, Prediction
from .report import Row, percent

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)


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
    own = lookup.encoder
    scores = {}
    try:
        for weight in dict.fromkeys([*weights, lexical_weight(own)]):
            lookup.use(reweighed(own, weight))
            scores[weight] = score_predictions(gold, answer())
    finally:
        lookup.use(own)
    return dict(sorted(scores.items()))


def best_weight(scores: Mapping[float, Evaluation]) -> float:
    """RETURNS (float): The weight with the highest lenient Acc@1; among ties the highest strict
    Acc@1, then the smallest weight.
    """
    return max(scores, key=lambda weight: (*_first_places(scores[weight]), -weight))


def weight_rows(scores: Mapping[float, Evaluation]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row per weight: "lexical weight", "lenient@1", "strict@1"
    and, if D is known, "unseen lenient@1" in percent; "best" marks the best.
    """
    best = best_weight(scores)
    rows = []
    for weight, evaluation in scores.items():
        lenient, strict = map(percent, _first_places(evaluation))
        row = {"lexical weight": weight, "lenient@1": lenient, "strict@1": strict}
        if UNSEEN in evaluation.ranks:
            unseen = hits(evaluation.ranks[UNSEEN].lenient, 1)
            row["unseen lenient@1"] = percent(mean(unseen))
        rows.append({**row, "best": "best" if weight == best else ""})
    return rows


def _first_places(evaluation: Evaluation) -> tuple[float, float]:
    ranks = evaluation.ranks[ALL]
    return mean(hits(ranks.lenient, 1)) or 0.0, mean(hits(ranks.strict, 1)) or 0.0
