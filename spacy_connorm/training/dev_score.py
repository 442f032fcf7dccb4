"""Dev scores of an encoder in training, by its purpose: the search that a pipeline would do, or
synonym retrieval.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from spacy.util import registry

from ..concepts import NIL, Ontology
from ..documents.mentions import Mention
from ..encoders import encode
from ..encoders.protocol import Encoder, TrainableModule
from ..errors import ConnormWarning, Errors
from ..evaluation import Prediction, score_predictions
from ..evaluation.metrics import read_all_gold, score_retrieval, warn_of_unknown_ids
from ..evaluation.queries import DEPTH
from ..evaluation.report import score_row
from ..files.atomic import TemporaryFolder
from ..index.backends.exact import ExactIndex
from ..index.search import COSINE, Metric
from ..lang.language import NEUTRAL
from ..linker.linking import candidates_of
from ..linker.lookup import ConceptLookup
from ..linker.query import Query
from ..linker.sieve import Sieve
from ..text.cleaning import clean
from .config import LINKING_METRICS, MEAN_AVERAGE_PRECISION, Training, TrainingData, read_mentions


@dataclass(frozen=True)
class LinkingScore:
    """Indexes O and the training data, D, with an encoder, and links the dev mentions.

    ontology (Ontology): O.
    synonyms (Sequence[Tuple[str, str]]): D: texts and concept ids.
    mentions (Sequence[Mention]): The dev mentions; those without gold ids are left out.
    metric (str): How vectors are compared; inner products are searched by OD-T only.
    """

    ontology: Ontology
    synonyms: Sequence[tuple[str, str]]
    mentions: Sequence[Mention]
    metric: Metric = COSINE

    def __call__(self, encoder: Encoder) -> dict[str, float]:
        """Score an encoder.

        RETURNS (Dict[str, float]): The scores of the sieve, in percent, and the number of mentions.
        """
        sieve = Sieve() if self.metric == COSINE else Sieve(["OD-T"], [])
        lookup = ConceptLookup(encoder, sieve, ExactIndex(metric=self.metric), language=NEUTRAL)
        lookup.build(self.ontology, self.synonyms)
        linked = [mention for mention in self.mentions if mention.concept_ids]
        texts = [mention.text for mention in linked]
        query = Query(sieve, DEPTH, split_composites=False)
        predictions = [
            Prediction(candidates, candidates[0].concept_id if candidates else NIL)
            for candidates in candidates_of(lookup.retriever, texts, query)
        ]
        gold = read_all_gold(lookup, linked)
        row = score_row(score_predictions(gold, predictions))
        return {key: row[key] for key in (*LINKING_METRICS, "mentions") if row.get(key) is not None}


class RetrievalScore:
    """Ranks all names of O and D for each dev mention (Fivez et al. 2021, section 5.1)."""

    def __init__(
        self,
        ontology: Ontology,
        synonyms: Sequence[tuple[str, str]],
        mentions: Sequence[Mention],
    ) -> None:
        """Select the dev mentions that can be scored.

        ontology (Ontology): O.
        synonyms (Sequence[Tuple[str, str]]): D: texts and concept ids.
        mentions (Sequence[Mention]): The dev mentions; those whose concepts have no name are left
            out.
        RAISES (ConnormError): CN810 if there are none.
        """
        rows: dict[str, int] = {}
        by_concept: dict[str, set[int]] = defaultdict(set)
        named = ((name, concept.concept_id) for concept in ontology for name in concept.names)
        for text, concept_id in chain(named, synonyms):
            concept_rows = by_concept[ontology.primary_id(concept_id)]
            concept_rows.add(rows.setdefault(clean(text), len(rows)))
        self._names = list(rows)
        self._texts: list[str] = []
        self._relevant: list[np.ndarray] = []
        for mention in mentions:
            ids = map(ontology.primary_id, mention.concept_ids)
            relevant = set().union(*(by_concept.get(concept_id, ()) for concept_id in ids))
            if relevant:
                self._texts.append(clean(mention.text))
                self._relevant.append(np.asarray(sorted(relevant)))
        if not self._texts:
            reason = "no dev mention has a concept with a name in the training data"
            mend = "dev documents with the ontology's ids, or another `metric` than `map`"
            raise Errors.CN810(reason=reason, mend=mend)

    def __call__(self, encoder: Encoder) -> dict[str, float]:
        """Score an encoder.

        RETURNS (Dict[str, float]): "map", "accuracy" and "mrr", in percent, and the number of
            mentions.
        """
        encoder.initialize(X=self._names)
        names, texts = encode(encoder, self._names), encode(encoder, self._texts)
        scores = score_retrieval(texts, names, self._relevant)
        percents = {name: round(100 * value, 2) for name, value in scores._asdict().items()}
        return {**percents, "mentions": len(self._texts)}


def score_saved(
    module: TrainableModule,
    score: Callable[[Encoder], dict[str, float]],
    block_of: Callable[[Path], dict[str, Any]],
) -> dict[str, float]:
    """Save an encoder in training, load it as a pipeline would, and score it.

    module (TrainableModule): The encoder's module.
    score (Callable): Scores an encoder.
    block_of (Callable[[Path], Dict[str, Any]]): Makes the config block of the encoder to search
        with, given the folder of the trained one.
    RETURNS (Dict[str, float]): The scores.
    """
    folder = TemporaryFolder()
    # Warnings about O and D were issued before the training.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConnormWarning)
        module.save(folder.path)
        return score(registry.resolve({"encoder": block_of(folder.path)})["encoder"])


def make_dev_score(
    data: TrainingData, training: Training, ontology: Ontology, mentions: Sequence[Mention]
) -> LinkingScore | RetrievalScore | None:
    """Read the dev data of a training config, which determine the best epoch.

    data (TrainingData): The block with the dev data.
    training (Training): The block with the score that determines the epoch, and with the objective,
        whose metric is searched by.
    ontology (Ontology): O.
    mentions (Sequence[Mention]): The annotated mentions to learn from.
    RETURNS (Optional[Union[LinkingScore, RetrievalScore]]): Scores an encoder; None without dev
        data.
    RAISES (ConnormError): CN600 if no dev mention has a gold id, CN810 if none can be ranked, and
        the errors of `read_docs`.
    WARNS (ConnormWarning): CNW600 if no gold id of the dev data is known.
    """
    if not data.dev:
        return None
    gold = list(read_mentions(data.dev, data))
    gold_ids = {concept_id for mention in gold for concept_id in mention.concept_ids}
    if not gold_ids:
        raise Errors.CN600(count=len(gold), path=", ".join(data.dev), chosen="")
    synonyms = [
        (mention.text, known_id) for mention in mentions for known_id in mention.concept_ids
    ]
    known_ids = {known_id for _, known_id in synonyms}
    if known_ids.isdisjoint(gold_ids) and not any(gold_id in ontology for gold_id in gold_ids):
        example = next(iter(ontology)).concept_id
        warn_of_unknown_ids(gold, Path(data.dev[0]), example=example)
    if training.metric == MEAN_AVERAGE_PRECISION:
        return RetrievalScore(ontology, synonyms, gold)
    return LinkingScore(ontology, synonyms, gold, metric=training.objective.metric)
