"""How well a pipeline recognizes mentions without a concept (NIL): a fifth of the ontology's
concepts are removed from O and D, and their mentions become NIL. Thresholds and probabilities are
fitted on dev, with train as D, and scored on test, with train and dev as D. "As they were" has no
NIL threshold and takes cosines as probabilities.

Example: python benchmarks/nil.py --dataset ncbi bc5cdr-d --encoder ngram --data ../shared/data
"""

from argparse import Namespace
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from _common.builders import SIEVE, THRESHOLD, build_lookup, encoder_config, make_sieve
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_encoder, add_ontology, at_least
from _common.scoring import DEPTH, read_standard

from spacy_connorm.concepts import Ontology
from spacy_connorm.documents.spans import written_id
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.curves import (
    apply_threshold,
    cosines_as_probabilities,
    read_calibration_data,
    trace_nil_curve,
)
from spacy_connorm.evaluation.report import Row, percent
from spacy_connorm.evaluation.tuning import (
    Outcome,
    Tuning,
    apply_tuning,
    best_score,
    outcome_row,
    tune,
)
from spacy_connorm.linker.interpretations import MentionInterpreter

HELD_OUT = 0.2
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
BEFORE, AFTER = "as they were", "fitted to dev"


class Asked(NamedTuple):
    """A part of a data set, answered without the concepts held out.

    gold (List[Gold]): The gold ids.
    found (Dict[str, List[Prediction]]): What each search finds alone.
    """

    gold: list[Gold]
    found: dict[str, list[Prediction]]


def main() -> None:
    parser = make_parser(__doc__ or "")
    add_datasets(parser)
    add_encoder(parser)
    parser.add_argument(
        "--seed", type=at_least(0), nargs="+", default=[0], help="of the concepts held out [0]"
    )
    add_ontology(parser)
    arguments = begin(parser)
    tables: dict[str, list[Row]] = {"Test, percent": [], "Precision at coverage, percent": []}
    with clear_errors():
        for dataset in arguments.dataset:
            for seed in arguments.seed:
                outcomes, points = measure(dataset, seed, arguments)
                tables["Test, percent"] += outcomes
                tables["Precision at coverage, percent"] += points
    finish_tables(tables, arguments.json, precise=["log_loss"])


def measure(dataset: str, seed: int, arguments: Namespace) -> tuple[list[Row], list[Row]]:
    """RETURNS (Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]): The scores with the settings as
    they were and with those fitted; and points of the curve.
    """
    head = {"dataset": dataset, "encoder": arguments.encoder, "seed": seed}
    dev, test = (ask(dataset, part, seed, arguments) for part in ("dev", "test"))
    tuning = tune(dev.gold, dev.found, make_sieve(SIEVE))
    before, after = as_it_was(test), apply_tuning(tuning, test.gold, test.found)
    rows = [
        {**head, "settings": label, **thresholds, **outcome_row(outcome)}
        for label, thresholds, outcome in (
            (BEFORE, {"sieve": f"{THRESHOLD}", "nil_threshold": "-"}, before),
            (AFTER, shown(tuning), after),
        )
    ]
    return rows, [{**head, **point} for point in coverage_points(after)]


def ask(dataset: str, part: str, seed: int, arguments: Namespace) -> Asked:
    """RETURNS (Asked): The answers to a part's mentions."""
    data = Data(dataset, arguments.data, ontology=arguments.ontology, part=part)
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    held = hold_out(data.ontology, seed)
    gold = [
        each._replace(concept_ids=each.concept_ids - held, in_ontology=not each.concept_ids <= held)
        for each in read_standard(data)
    ]
    synonyms = [
        (text, gold_id)
        for text, gold_id in data.expanded_synonyms
        if gold_id not in data.ontology or data.ontology[gold_id].concept_id not in held
    ]
    # Replaces the cached property.
    data.ontology = Ontology(each for each in data.ontology if each.concept_id not in held)
    lookup = build_lookup(block, data, synonyms=synonyms, searches=[SIEVE], work=arguments.work)
    texts = [mention.text for mention in data.mentions]
    found = {}
    for search in SIEVE.split("+"):
        reader = MentionInterpreter(lookup, top_k=DEPTH, search=search)
        answers = reader.candidates(texts, data.long_forms)
        found[search] = [Prediction(each, written_id(each, None)) for each in answers]
    return Asked(gold, found)


def hold_out(ontology: Ontology, seed: int) -> frozenset[str]:
    """RETURNS (FrozenSet[str]): The ids of a fifth of the concepts."""
    concept_ids = sorted(concept.concept_id for concept in ontology)
    return frozenset(Random(seed).sample(concept_ids, round(HELD_OUT * len(concept_ids))))


def as_it_was(asked: Asked) -> Outcome:
    """RETURNS (Outcome): The answers of the default sieve without a NIL threshold."""
    found = make_sieve(SIEVE).choose(asked.found, best_score)
    predictions = apply_threshold(found, None)
    answers = read_calibration_data(asked.gold, predictions)
    return Outcome(asked.gold, predictions, cosines_as_probabilities(answers), answers.right)


def shown(tuning: Tuning) -> Row:
    """RETURNS (Dict[str, Any]): The thresholds."""
    return {
        "sieve": " ".join(f"{each:.4f}" for each in tuning.sieve.thresholds),
        "nil_threshold": "-" if tuning.nil_threshold is None else f"{tuning.nil_threshold:.4f}",
    }


def coverage_points(outcome: Outcome) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): For each coverage of `COVERAGES`, the nearest threshold from above
    and its scores. Several coverages may share a threshold, since many mentions have the best
    score; it occurs once.
    """
    curve = trace_nil_curve(outcome.gold, outcome.predictions)
    last = len(curve.coverage) - 1
    places = (min(int((curve.coverage < coverage).sum()), last) for coverage in COVERAGES)
    for place in dict.fromkeys(places):
        yield {
            "threshold": f"{curve.threshold[place]:.4f}",
            "coverage": percent(float(curve.coverage[place])),
            "precision": percent(float(curve.precision[place])),
            "recall": percent(float(curve.recall[place])),
            "f1": percent(float(curve.f1[place])),
        }


if __name__ == "__main__":
    main()
