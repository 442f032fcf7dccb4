"""How fast `mention_finder` reads, and what its part of an index costs, with the names of an
ontology alone, beside spaCy's own matcher of phrases.

Documents are tokenized before. All sides read the same ones in turns; ratios are to `PhraseMatcher`
in the same turn, over 1: faster. The first turn of a side is told apart: there it learns tokens and
names. Memory is what the process has grown by after the finder's first turn. With
--phrase-threshold, a third finder also finds phrases that are no names, by vectors of --encoder.

Example: OMP_NUM_THREADS=1 python benchmarks/finder.py --dataset ncbi bc5cdr-d --data ../shared/data
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import spacy
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_ontology, add_repeats
from _measure.interleaved import ratio_columns, speed_columns, take_turns
from _measure.memory_usage import require_proc, total
from _measure.stopwatch import frozen, time_call
from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc
from spacy.util import filter_spans

from spacy_connorm.concepts import Ontology
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.word_bags import WordBags

FINDER, WITHOUT, MATCHER = "mention_finder", "without derivations", "PhraseMatcher"
PHRASES = "with phrases"
# Of the normalizer, which searches phrases.
INDEXES: dict[str, dict[str, Any]] = {
    "exact": {"@misc": "spacy-connorm.ExactIndex.v1"},
    "ivf": {"@misc": "spacy-connorm.IvfIndex.v1", "exact_below": 10_000},
}
Side = Callable[[], object]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    require_proc()
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_ontology(parser)
    add_repeats(parser)
    parser.add_argument("--encoder", default="ngram", help="of the normalizer [%(default)s]")
    parser.add_argument(
        "--phrase-threshold", type=float, metavar="SCORE", help="also find phrases of this score"
    )
    parser.add_argument(
        "--index", choices=INDEXES, default="exact", help="that searches phrases [%(default)s]"
    )
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): One row a side, and what the names cost."""
    parts = [Data(name, arguments.data) for name in arguments.dataset]
    data = parts[0]
    if arguments.ontology is not None:
        data.other_ontology = arguments.ontology
    encoder = encoder_config(arguments.encoder, data, train="O", work=arguments.work)
    nlp = make_pipeline(
        data.ontology,
        encoder,
        INDEXES[arguments.index],
        phrase_threshold=arguments.phrase_threshold,
    )
    docs = [nlp.make_doc(doc.text) for each in parts for doc in each.scored_docs]
    sides = make_sides(nlp, docs, data.ontology)
    before = _memory()
    first = {FINDER: time_call(sides[FINDER]).clock}
    grown = _memory() - before
    first |= {name: time_call(side).clock for name, side in sides.items() if name not in first}
    return {
        "Speed": list(measure_speed(sides, first, sum(map(len, docs)), arguments.repeats)),
        "Cost": [{**measure_names(data.ontology), "memory_mb": round(grown, 1)}],
    }


def make_pipeline(
    ontology: Ontology,
    encoder: dict[str, Any],
    index: dict[str, Any],
    *,
    phrase_threshold: float | None = None,
) -> Language:
    """RETURNS (Language): One with all finders."""
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder", FINDER)
    nlp.add_pipe("mention_finder", WITHOUT, config={"derivations": False})
    if phrase_threshold is not None:
        nlp.add_pipe("mention_finder", PHRASES, config={"phrase_threshold": phrase_threshold})
    settings = {"encoder": encoder, "index": index}
    normalizer = nlp.add_pipe("concept_normalizer", config=settings)
    normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
    return nlp


def make_sides(nlp: Language, docs: Sequence[Doc], ontology: Ontology) -> dict[str, Side]:
    """RETURNS (Dict[str, Callable[[], object]]): Functions that read all documents, by side."""
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    names = [name for concept in ontology for name in concept.names]
    matcher.add("NAME", list(nlp.tokenizer.pipe(names)))
    return {
        **{name: partial(_find, nlp, name, docs) for name in nlp.pipe_names[:-1]},
        MATCHER: partial(_match, matcher, docs),
    }


def _find(nlp: Language, name: str, docs: Sequence[Doc]) -> None:
    for doc in docs:
        doc.ents = ()
    for _ in nlp.get_pipe(name).pipe(docs, batch_size=nlp.batch_size):
        pass


def _match(matcher: PhraseMatcher, docs: Sequence[Doc]) -> None:
    for doc in docs:
        doc.ents = filter_spans(matcher(doc, as_spans=True))


def measure_speed(
    sides: dict[str, Side], first: dict[str, float], tokens: int, repeats: int
) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a side.

    sides (Dict[str, Callable[[], object]]): From `make_sides`.
    first (Dict[str, float]): Seconds of the first turn of each.
    tokens (int): In all documents.
    repeats (int): Turns.
    """
    with frozen():
        turns = take_turns([partial(_turn, side) for side in sides.values()], repeats)
    seconds = dict(zip(sides, turns, strict=True))
    return [
        {
            "side": name,
            "tokens": tokens,
            "first_tokens_per_second": round(tokens / first[name]),
            **speed_columns([tokens / each for each in own], "tokens_per_second"),
            **ratio_columns(own, seconds[MATCHER]),
        }
        for name, own in seconds.items()
    ]


def _turn(side: Side, repeat: int) -> float:
    return time_call(side).clock


def measure_names(ontology: Ontology) -> Row:
    """RETURNS (Dict[str, Any]): How long the words of all names take to collect, and their size."""
    names = [name for concept in ontology for name in concept.names]
    built: list[WordBags] = []
    seconds = time_call(
        lambda: built.append(WordBags.from_texts(names, np.arange(len(names))))
    ).clock
    with TemporaryDirectory() as folder:
        built[0].write(Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    return {
        "names": len(names),
        "build_s": round(seconds, 2),
        "bytes_per_name": round(size / len(names), 1),
    }


def _memory() -> float:
    return total(os.getpid())["rss"]


if __name__ == "__main__":
    main()
