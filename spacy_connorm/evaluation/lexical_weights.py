"""How much n-grams should count in the scores of a pipeline's hybrid encoder."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from spacy.language import Language

from ..encoders.hybrid import is_hybrid, lexical_weight, reweighed
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from .gold import read_all_gold
from .metrics import ALL, UNSEEN, Evaluation, Ranks, hits, mean, score_predictions
from .protocol import Gold
from .queries import MentionQuery, answer_queries, read_queries
from .report import Row, Section, percent
from .tuning import Found

_Answer = TypeVar("_Answer")


class Weighed(NamedTuple):
    """Scores by lexical weight.

    section (Section): One row a weight.
    own (float): The pipeline's own weight.
    best (float): The best weight.
    """

    section: Section
    own: float
    best: float


class WeighedAnswers:
    """A pipeline's answers to n mentions with several lexical weights.

    own (float): The pipeline's own weight; 0 if its encoder is not hybrid.
    answers (Dict[float, List[Prediction]]): Those of its sieve, by weight, ascending.
    """

    def __init__(
        self,
        normalizer: ConceptNormalizer,
        queries: Sequence[MentionQuery],
        gold: Sequence[Gold],
        weights: Sequence[float] = (),
    ) -> None:
        """Ask the pipeline with each weight. Nothing is indexed or fitted again.

        normalizer (ConceptNormalizer): The pipeline's component; restored after each question.
        queries (Sequence[MentionQuery]): The mentions.
        gold (Sequence[Gold]): Their gold standard.
        weights (Sequence[float]): The weights, beside the pipeline's own.
        RAISES (ConnormError): CN313 if there are weights and the encoder is no hybrid, CN309 for a
            weight under 0.
        """
        self._lookup = normalizer.lookup
        self._ask = partial(answer_queries, normalizer, queries)
        encoder = self._lookup.encoder
        self.own = lexical_weight(encoder) if is_hybrid(encoder) else 0.0
        others = {weight: reweighed(encoder, weight) for weight in weights}
        self._encoders = {**others, self.own: encoder}
        self._found: dict[float, Found] = {}
        self._linked = np.asarray([bool(each.concept_ids) for each in gold], dtype="bool")
        self.answers = {key: self._ask_with(key, self._ask) for key in sorted(self._encoders)}
        self._scores = {key: score_predictions(gold, each) for key, each in self.answers.items()}

    def _ask_with(self, weight: float, answer: Callable[[], _Answer]) -> _Answer:
        own = self._lookup.encoder
        try:
            self._lookup.use(self._encoders[weight])
            return answer()
        finally:
            self._lookup.use(own)

    def best(self, kept: np.ndarray) -> float:
        """Choose the weight for some of the mentions.

        kept (Bools1d): bool (n,), which of them.
        RETURNS (float): The best weight.
        """
        chosen = kept[self._linked]
        ranks = {weight: each.ranks[ALL] for weight, each in self._scores.items()}
        return best_weight(
            {key: Ranks(each.lenient[chosen], each.strict[chosen]) for key, each in ranks.items()}
        )

    def find(self, weight: float) -> Found:
        """Search with one of the weights.

        weight (float): The weight.
        RETURNS (Mapping[str, List[Prediction]]): What each search of the sieve finds alone.
        """
        if weight not in self._found:
            searches = self._lookup.sieve.searches
            self._found[weight] = self._ask_with(
                weight, lambda: {search: self._ask(search) for search in searches}
            )
        return self._found[weight]

    def compare(self, corpus: Path) -> Weighed:
        """Compare the weights on all mentions.

        corpus (Path): Where they are from.
        RETURNS (Weighed): The scores.
        """
        section = Section(f"Lexical weights on {corpus.name}, percent", weight_rows(self._scores))
        return Weighed(section, self.own, self.best(np.ones(len(self._linked), dtype="bool")))


def best_weight(ranks: Mapping[float, Ranks]) -> float:
    """Choose a weight by the ranks of the right answers.

    ranks (Mapping[float, Ranks]): Of the right answers to the same mentions, by weight.
    RETURNS (float): The weight with the highest lenient Acc@1; among ties the highest strict Acc@1,
        then the smallest weight.
    """
    return max(ranks, key=lambda weight: (*_first_places(ranks[weight]), -weight))


def weight_rows(scores: Mapping[float, Evaluation]) -> list[Row]:
    """Show scores by weight.

    scores (Mapping[float, Evaluation]): The scores.
    RETURNS (List[Dict[str, Any]]): One row per weight: "lexical weight", "lenient@1", "strict@1"
        and, if D is known, "unseen lenient@1" in percent; "best" marks the best.
    """
    best = best_weight({weight: each.ranks[ALL] for weight, each in scores.items()})
    rows = []
    for weight, evaluation in scores.items():
        lenient, strict = map(percent, _first_places(evaluation.ranks[ALL]))
        row = {"lexical weight": weight, "lenient@1": lenient, "strict@1": strict}
        if UNSEEN in evaluation.ranks:
            row["unseen lenient@1"] = percent(mean(hits(evaluation.ranks[UNSEEN].lenient, 1)))
        rows.append({**row, "best": "best" if weight == best else ""})
    return rows


def _first_places(ranks: Ranks) -> tuple[float, float]:
    return mean(hits(ranks.lenient, 1)) or 0.0, mean(hits(ranks.strict, 1)) or 0.0


def weigh_pipeline(
    pipeline: str | Path, path: Path, weights: Sequence[float], *, component: str | None = None
) -> Weighed:
    """Score a pipeline with several lexical weights.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder; it is not changed.
    path (Path): A `.spacy` file with gold ids.
    weights (Sequence[float]): The weights; the pipeline's own is scored too.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (Weighed): The scores.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN309 for a weight under 0, CN600 for
        a corpus without gold ids.
    """
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    queries = read_queries(path, nlp, normalizer)
    gold = read_all_gold(normalizer.lookup, [query.mention for query in queries])
    return WeighedAnswers(normalizer, queries, gold, weights).compare(path)


def reweigh(nlp: Language, normalizer: ConceptNormalizer, weight: float) -> None:
    """Set the lexical weight of a pipeline's hybrid encoder, in its config too.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): Its component.
    weight (float): The weight of the lexical cosine.
    """
    nlp.get_pipe_config(component_name(nlp, normalizer))["encoder"]["lexical_weight"] = weight
    normalizer.lookup.use(reweighed(normalizer.lookup.encoder, weight))
