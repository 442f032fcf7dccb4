"""How well a pipeline knows what it does not know, with nothing annotated: probabilities and NIL as
`connorm index` fits them to names, measured with half of the gold concepts taken out of the
ontology, with those of the same name, and what NIL costs where every mention has its concept.

Example: python benchmarks/nil.py --dataset ncbi --encoder ngram --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from _common.builders import cached_encoder, encoder_config
from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import Data
from _common.ontology_finder import TYPES
from _common.options import add_datasets, add_encoder, add_part
from _common.scoring import read_standard
from _common.vector_cache import save_cache

from spacy_connorm.concepts import Ontology
from spacy_connorm.encoders import is_sparse
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.metrics import nil_score
from spacy_connorm.evaluation.report import Row, percent
from spacy_connorm.evaluation.tuning import judge, measure_reliability
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.linker.decision import written_id
from spacy_connorm.linker.linking import candidates_of
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.linker.query import Query
from spacy_connorm.linker.rescoring import COMPARE_WORDS
from spacy_connorm.linker.sieve import Sieve
from spacy_connorm.pipeline.presets import BESIDE_NGRAMS

THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.5)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [row for name in arguments.dataset for row in measure(arguments, name)]
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_encoder(parser)
    add_part(parser)
    parser.add_argument(
        "--nil-threshold",
        type=float,
        nargs="+",
        default=THRESHOLDS,
        metavar="PROBABILITY",
        help="[%(default)s]",
    )
    return parser


def measure(arguments: Namespace, dataset: str) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a threshold."""
    data = Data(dataset, arguments.data, part=arguments.part)
    data.concept_types = TYPES.get(dataset, [])
    block = encoder_config(arguments.encoder, data, train="O", work=arguments.work)
    if data.dataset.language != "en" and arguments.encoder != "ngram":
        block = {**BESIDE_NGRAMS, "dense": block}
    whole = Answers(data, block, arguments.work, removed=frozenset())
    ids = {concept_id for mention in whole.gold for concept_id in mention.concept_ids}
    halves = [
        Answers(
            data,
            block,
            arguments.work,
            removed=_with_namesakes(frozenset(filter(is_removed, ids)), data.ontology),
        )
        for is_removed in (_is_even, lambda each: not _is_even(each))
    ]
    linked = sum(bool(mention.concept_ids) for mention in whole.gold)
    both = [mention for half in halves for mention in half.gold]
    for threshold in arguments.nil_threshold:
        lost = whole.right(None) - whole.right(threshold)
        gone = whole.written(None) - whole.written(threshold)
        nil = nil_score(
            both, [prediction for half in halves for prediction in half.predict(threshold)]
        )
        yield {
            "dataset": dataset,
            "part": arguments.part,
            "encoder": arguments.encoder,
            "mentions": len(whole.gold),
            "NIL below": f"{threshold:g}",
            "half NIL P": percent(nil.precision),
            "half NIL R": percent(nil.recall),
            "half NIL F1": percent(nil.f1),
            "half ECE": percent(sum(half.calibration_error for half in halves) / len(halves)),
            "all ECE": percent(whole.calibration_error),
            "all: right": percent(whole.right(None) / linked),
            "all: right lost": percent(lost / linked),
            "all: wrong gone": percent((gone - lost) / linked),
        }


def _with_namesakes(removed: frozenset[str], ontology: Ontology) -> frozenset[str]:
    """Add the concepts that share a name with a removed one. MEDIC has many diseases twice, from
    MeSH and from OMIM: one that is still there under another id is not missing.

    RETURNS (FrozenSet[str]): The ids of both.
    """
    names = {
        name.lower()
        for concept_id in removed
        if concept_id in ontology
        for name in ontology[concept_id].names
    }
    return removed | {
        concept.concept_id
        for concept in ontology
        if not names.isdisjoint(map(str.lower, concept.names))
    }


def _is_even(concept_id: str) -> bool:
    return sha256(concept_id.encode()).digest()[-1] % 2 == 0


class Answers:
    """What a pipeline without some concepts finds for the mentions to score."""

    def __init__(
        self, data: Data, block: dict[str, Any], work: Path, *, removed: frozenset[str]
    ) -> None:
        """data (Data): The data set.
        block (Dict[str, Any]): The encoder's config.
        work (Path): Keeps vectors.
        removed (FrozenSet[str]): The gold concepts that the ontology lacks.
        """
        concepts = [concept for concept in data.ontology if concept.concept_id not in removed]
        # The names of these ontologies are English.
        language = data.dataset.language
        is_english = language == "en"
        rescorers = COMPARE_WORDS if is_english else ()
        query = Query(Sieve(), 10, rescorers=rescorers, read_initials=is_english)
        lookup = ConceptLookup(
            cached_encoder(block, work), Sieve(), ExactIndex(), language=language
        )
        lookup.build(concepts, substitutions=None, calibrated_for=query)
        if not is_sparse(lookup.encoder):
            save_cache(lookup.encoder)
        calibration = lookup.retriever.calibration
        if calibration is None:
            raise SystemExit("Too few concepts have several names.")
        self.gold: list[Gold] = [
            mention._replace(concept_ids=mention.concept_ids - removed)
            for mention in read_standard(data)
        ]
        self._found = candidates_of(
            lookup.retriever,
            [mention.text for mention in data.mentions],
            query._replace(calibration=calibration),
            long_forms=data.long_forms,
        )

    def predict(self, threshold: float | None) -> list[Prediction]:
        """RETURNS (List[Prediction]): The answers with a NIL threshold."""
        return [Prediction(found, written_id(found, threshold)) for found in self._found]

    def right(self, threshold: float | None) -> int:
        """RETURNS (int): The mentions whose written ids are the gold ids."""
        return sum(
            bool(mention.concept_ids) and prediction.written_ids == mention.concept_ids
            for mention, prediction in zip(self.gold, self.predict(threshold), strict=True)
        )

    def written(self, threshold: float | None) -> int:
        """RETURNS (int): The mentions with written ids."""
        return sum(bool(prediction.written_ids) for prediction in self.predict(threshold))

    @property
    def calibration_error(self) -> float:
        """RETURNS (float): The expected calibration error of the first candidates, 0 to 1."""
        outcome = judge(self.gold, self.predict(None))
        return measure_reliability(outcome.probabilities, outcome.right)[1] or 0.0


if __name__ == "__main__":
    main()
