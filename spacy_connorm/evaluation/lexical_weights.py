"""How much n-grams should count in the scores of a pipeline's hybrid encoder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from spacy.language import Language

from ..encoders.hybrid import reweighed
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from .gold import read_all_gold
from .lexical_weight import ask_with, best_weight, own_weight, weigh, weight_rows
from .metrics import ALL, Ranks, score_predictions
from .protocol import Gold, Prediction
from .queries import MentionQuery, answer_queries, read_queries
from .sections import Section
from .sieve_thresholds import Found


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
    answers (Dict[float, List[Prediction]]): Those of its sieve, by weight.
    """

    def __init__(
        self,
        normalizer: ConceptNormalizer,
        queries: Sequence[MentionQuery],
        gold: Sequence[Gold],
        weights: Sequence[float] = (),
    ) -> None:
        """normalizer (ConceptNormalizer): The pipeline's component; restored after each question.
        queries (Sequence[MentionQuery]): The mentions.
        gold (Sequence[Gold]): Their gold standard.
        weights (Sequence[float]): The weights, beside the pipeline's own.
        RAISES (ConnormError): CN313 if there are weights and the encoder is no hybrid, CN309 for a
            weight under 0.
        """
        self._lookup = normalizer.lookup
        self._ask = partial(answer_queries, normalizer, queries)
        self._encoders = weigh(self._lookup.encoder, weights)
        self._found: dict[float, Found] = {}
        self._linked = np.asarray([bool(each.concept_ids) for each in gold], dtype="bool")
        self.own = own_weight(self._lookup.encoder)
        self.answers: dict[float, list[Prediction]]
        self.answers = ask_with(self._lookup, self._encoders, self._ask)
        self._scores = {key: score_predictions(gold, each) for key, each in self.answers.items()}

    def best(self, kept: np.ndarray) -> float:
        """RETURNS (float): The best weight for some of the mentions.

        kept (Bools1d): bool (n,), which of them.
        """
        chosen = kept[self._linked]
        ranks = {weight: each.ranks[ALL] for weight, each in self._scores.items()}
        return best_weight(
            {key: Ranks(each.lenient[chosen], each.strict[chosen]) for key, each in ranks.items()}
        )

    def find(self, weight: float) -> Found:
        """RETURNS (Mapping[str, List[Prediction]]): What each search of the sieve finds alone.

        weight (float): With this weight, one of those that are asked with.
        """
        if weight not in self._found:
            searches, encoder = self._lookup.sieve.searches, self._encoders[weight]
            found = ask_with(
                self._lookup,
                {weight: encoder},
                lambda: {each: self._ask(each) for each in searches},
            )
            self._found |= found
        return self._found[weight]

    def compare(self, corpus: Path) -> Weighed:
        """RETURNS (Weighed): The scores of all mentions.

        corpus (Path): Where they are from.
        """
        section = Section(f"Lexical weights on {corpus.name}, percent", weight_rows(self._scores))
        return Weighed(section, self.own, self.best(np.ones(len(self._linked), dtype="bool")))


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
