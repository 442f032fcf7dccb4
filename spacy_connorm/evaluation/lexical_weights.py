"""How much n-grams should count in the scores of a pipeline's hybrid encoder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..encoders.hybrid import lexical_weight, reweighed
from ..pipeline.loading import find_normalizer, load_pipeline
from .gold import read_all_gold
from .metrics import ALL, UNSEEN, Evaluation, hits, mean, score_predictions
from .queries import answer_queries, read_queries
from .report import Row, Section, percent


class Weighed(NamedTuple):
    """Scores by lexical weight.

    section (Section): One row a weight.
    best (float): The weight with the highest lenient Acc@1; among ties the highest strict Acc@1,
        then the smallest weight.
    """

    section: Section
    best: float


def weigh_pipeline(
    pipeline: str | Path, path: Path, weights: Sequence[float], *, component: str | None = None
) -> Weighed:
    """Score a pipeline with several lexical weights. Nothing is indexed or fitted again.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder; it is not changed.
    path (Path): A `.spacy` file with gold ids.
    weights (Sequence[float]): The weights; the pipeline's own is scored too.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (Weighed): The scores.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN006 for a weight under 0, CN600 for
        a corpus without gold ids.
    """
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    lookup, own = normalizer.lookup, normalizer.lookup.encoder
    encoders = {weight: reweighed(own, weight) for weight in weights} | {lexical_weight(own): own}
    queries = read_queries(path, nlp, normalizer)
    gold = read_all_gold(lookup, [query.mention for query in queries])
    scores = {}
    for weight, encoder in sorted(encoders.items(), key=lambda each: each[0]):
        lookup.use(encoder)
        scores[weight] = score_predictions(gold, answer_queries(normalizer, queries))
    best = best_weight(scores)
    rows = [_show(weight, evaluation, best) for weight, evaluation in scores.items()]
    return Weighed(Section(f"Lexical weights on {path.name}, percent", rows), best)


def best_weight(scores: Mapping[float, Evaluation]) -> float:
    """Choose a weight.

    scores (Mapping[float, Evaluation]): The scores of the same mentions, by weight.
    RETURNS (float): The best, as in `Weighed`.
    """
    return max(scores, key=lambda weight: (*_first_places(scores[weight]), -weight))


def _show(weight: float, evaluation: Evaluation, best: float) -> Row:
    lenient, strict = map(percent, _first_places(evaluation))
    row = {"lexical weight": weight, "lenient@1": lenient, "strict@1": strict}
    if UNSEEN in evaluation.ranks:
        row["unseen lenient@1"] = percent(mean(hits(evaluation.ranks[UNSEEN].lenient, 1)))
    return {**row, "best": "best" if weight == best else ""}


def _first_places(evaluation: Evaluation) -> list[float]:
    return [mean(hits(ranks, 1)) or 0.0 for ranks in evaluation.ranks[ALL]]
