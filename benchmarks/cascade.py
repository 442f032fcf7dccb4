"""A cascade of two encoders beside each of them alone: accuracy, how many mentions the second one
is asked about, and mentions a second.

Both are calibrated on dev, with train as D. Documents of the part are read whole, their mentions
being the entities, in turns, each with empty caches; ratios are to the first encoder in the same
turn, over 1: faster. Vectors of names are cached, those of mentions are not.

Example: python benchmarks/cascade.py --dataset ncbi --part dev --first dan --second minilm \\
    --train OD --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import spacy
from _common.builders import SIEVE, build_lookup, encoder_config
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_part, add_repeats
from _common.pipelines import add_normalizer
from _common.scoring import DEPTH, predict, read_standard
from _common.trained_encoders import TRAINS
from _common.vector_cache import remove_cache
from _measure.interleaved import ratio_columns, speed_columns, take_turns
from _measure.stopwatch import time_call
from spacy.language import Language

from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation.curves import fit_calibration, read_calibration_data
from spacy_connorm.evaluation.metrics import score_predictions
from spacy_connorm.evaluation.protocol import by_part
from spacy_connorm.evaluation.report import Row, percent, score_row
from spacy_connorm.linker.interpretations import search_depth
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer

SCORES = ("lenient@1", "strict@1", "unseen_strict@1")
PROBABILITIES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [row for name in arguments.dataset for row in measure(name, arguments)]
    finish_tables({"Cascade": rows}, arguments.json, precise=["ratio", "lowest_ratio"])


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_part(parser)
    parser.add_argument("--first", default="dan", help="the faster encoder [%(default)s]")
    parser.add_argument("--second", default="minilm", help="the better one [%(default)s]")
    parser.add_argument(
        "--train", choices=TRAINS, default="O", help="what dan and configs train on [%(default)s]"
    )
    parser.add_argument(
        "--min-probability", type=float, nargs="+", default=PROBABILITIES, metavar="P"
    )
    parser.add_argument("--threshold", type=float, default=0.95, help="of D-T [%(default)s]")
    add_repeats(parser)
    return parser


def measure(dataset: str, arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): A row for each encoder alone, and for each cascade."""
    data = Data(dataset, arguments.data, part=arguments.part)
    sides = list(make_sides(data, arguments))
    turns = take_turns([partial(run, *side, data) for side in sides], arguments.repeats, warm_up=1)
    mentions = sum(len(doc.ents) for doc in data.scored_docs)
    for (name, nlp, probability), own in zip(sides, turns, strict=True):
        normalizer = choose(nlp, probability)
        yield {
            "dataset": dataset,
            "part": arguments.part,
            "side": name,
            "min_probability": probability,
            "asked": percent(share_asked(normalizer, data)),
            **score(normalizer, data),
            **speed_columns([mentions / each for each in own], "mentions_per_s"),
            **ratio_columns(own, turns[0]),
        }


def make_sides(data: Data, arguments: Namespace) -> Iterator[tuple[str, Language, float | None]]:
    """YIELDS (Tuple[str, Language, Optional[float]]): A name, a pipeline, and the least probability
    of a mention that the second encoder does not read. All cascades share a pipeline.
    """
    dev = Data(data.name, arguments.data, part="dev")
    settings = [
        calibrated(name, dev, data, arguments) for name in (arguments.first, arguments.second)
    ]
    for name, block in zip((arguments.first, arguments.second), settings, strict=True):
        yield name, make_pipeline(block, data, arguments), None
    first, second = settings
    cascade = {"@misc": "spacy-connorm.Cascade.v1", "index": _index(), **second}
    nlp = make_pipeline({**first, "cascade": cascade}, data, arguments)
    for probability in arguments.min_probability:
        yield "cascade", nlp, probability


def calibrated(name: str, dev: Data, data: Data, arguments: Namespace) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Encoder, sieve and calibration of a component's config."""
    sieve = {"searches": SIEVE.split("+"), "thresholds": [arguments.threshold]}
    options = {"train": arguments.train, "work": arguments.work}
    shared = {"sieve": {"@misc": "spacy-connorm.Sieve.v1", **sieve}}
    block = {"encoder": encoder_config(name, dev, **options), **shared}
    normalizer = choose(make_pipeline(block, dev, arguments), None)
    answers = read_calibration_data(read_standard(dev), predict(answer(normalizer, dev)))
    fitted = fit_calibration(answers).to_dict()
    return {"encoder": encoder_config(name, data, **options), **shared, "calibration": fitted}


def make_pipeline(block: dict[str, Any], data: Data, arguments: Namespace) -> Language:
    """RETURNS (Language): A pipeline with an index of each encoder of its block."""
    # With the documents' vocabulary, as if the pipeline had tokenized them.
    nlp = spacy.blank("en", vocab=data.scored_docs[0].vocab)
    nlp.add_pipe("abbreviation_resolver")
    options: dict[str, Any] = {"synonyms": data.expanded_synonyms, "work": arguments.work}
    normalizer = add_normalizer(nlp, {"index": _index(), **block}, data, **options)
    for other in normalizer.lookup.lookups[1:]:
        backend = other.backend
        encoder = block["cascade"]["encoder"]
        built = build_lookup(encoder, data, searches=[SIEVE], backend=backend, **options)
        other.use(remove_cache(built.encoder), built.index)
    size = normalizer.cfg["memo_size"]
    normalizer.lookup.memoize(size=size, top_k=search_depth(normalizer.cfg["top_k"]))
    return nlp


def _index() -> dict[str, Any]:
    return {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 300_000, "dtype": "int8"}


def choose(nlp: Language, probability: float | None) -> ConceptNormalizer:
    """RETURNS (ConceptNormalizer): The component, with a cascade's least probability set, and with
    empty caches.
    """
    normalizer: ConceptNormalizer = nlp.get_pipe("concept_normalizer")
    lookup: Any = normalizer.lookup
    if probability is not None:
        lookup.cascade = replace(lookup.cascade, min_probability=probability)
    lookup.tune(normalizer.cfg)
    return normalizer


def run(name: str, nlp: Language, probability: float | None, data: Data, repeat: int) -> float:
    """RETURNS (float): The seconds that it takes to read all documents."""
    choose(nlp, probability)
    docs = [doc.copy() for doc in data.scored_docs]
    return time_call(lambda: list(nlp.pipe(docs))).clock


def answer(normalizer: ConceptNormalizer, data: Data) -> list[list[Candidate]]:
    """RETURNS (List[List[Candidate]]): The candidates of all mentions to score."""
    texts = [mention.text for mention in data.mentions]
    return normalizer.candidates(texts, long_forms=data.long_forms, top_k=DEPTH)


def score(normalizer: ConceptNormalizer, data: Data) -> Row:
    """RETURNS (Dict[str, Any]): Acc@1 in percent."""
    found = predict(answer(normalizer, data))
    row = score_row(score_predictions(read_standard(data), found))
    return {name: row[name] for name in SCORES}


def share_asked(normalizer: ConceptNormalizer, data: Data) -> float | None:
    """RETURNS (Optional[float]): The share of mentions that go to the second encoder."""
    lookup: Any = normalizer.lookup
    if len(lookup.lookups) == 1:
        return None
    texts, own = [mention.text for mention in data.mentions], lookup.cascade
    lookup.cascade = replace(own, min_probability=0.0)
    found = normalizer.candidates(texts, long_forms=data.long_forms, top_k=DEPTH)
    lookup.cascade = own
    unsure = [not all(map(own.is_certain, by_part(each))) for each in found]
    return sum(unsure) / len(unsure)


if __name__ == "__main__":
    main()
