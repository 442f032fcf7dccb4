"""What building an index again costs after a hundredth of the concepts got another name, beside a
build from nothing: processor seconds of `connorm index` with `--reuse` and without, in turns.

The concepts are those of MeSH, again with a number behind each name if more are wanted. The encoder
is the deep averaging network, untrained, and the search is exact: Annoy's trees are always planted
anew. The two indexes must have the same bytes.

Example: OMP_NUM_THREADS=1 python benchmarks/rebuild.py --names 100000 --data ../shared/data
"""

import random
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import MESH
from _common.options import LEAST_REPEATS, at_least
from _measure.interleaved import spread, take_turns
from _measure.stopwatch import time_call

from spacy_connorm import build_index
from spacy_connorm.concepts import Concept, write_concepts
from spacy_connorm.evaluation.report import Row
from spacy_connorm.files.folders import MANIFEST
from spacy_connorm.ontology import stream_ontology

INDEX = {"@misc": "spacy-connorm.ExactIndex.v1", "dtype": "int8"}
CHANGED = 0.01
SEED = 13


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--names", type=at_least(1), default=100_000, help="at least [%(default)s]")
    parser.add_argument(
        "--runs", type=at_least(1), default=LEAST_REPEATS, help="of each build [%(default)s]"
    )
    arguments = begin(parser)
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a way to build."""
    work, draw = arguments.work, random.Random(SEED)
    older, newer = (work / f"rebuild-{arguments.names}-{each}.jsonl" for each in "ab")
    concepts = list(read_concepts(arguments.data, arguments.names))
    write_concepts(concepts, older)
    write_concepts((renamed(concept, draw) for concept in concepts), newer)
    del concepts
    exact = {f"components.concept_normalizer.index.{key}": value for key, value in INDEX.items()}
    build = partial(build_index, encoder="fast", overrides=exact)
    known = build(older, work / "rebuild-older").path
    folders = {"from nothing": work / "rebuild-whole", "--reuse": work / "rebuild-reused"}
    turns = take_turns(
        [
            lambda _, folder=folder, reuse=reuse: time_call(
                partial(build, newer, folder, reuse=reuse)
            )
            for folder, reuse in zip(folders.values(), (None, known), strict=True)
        ],
        arguments.runs,
    )
    require_same(*folders.values())
    rows = [
        {
            "names": arguments.names,
            "build": way,
            "processor_s": round(spread([each.processor for each in own]).median, 2),
            "seconds": round(spread([each.clock for each in own]).median, 2),
        }
        for way, own in zip(folders, turns, strict=True)
    ]
    for row in rows:
        row["percent"] = round(100 * row["processor_s"] / rows[0]["processor_s"], 1)
    return rows


def read_concepts(data: Path, names: int) -> Iterator[Concept]:
    """Read concepts, with a number behind each id and name from the second time on.

    data (Path): The data folder.
    names (int): How many names to read.
    YIELDS (Concept): The concepts.
    """
    concepts = list(stream_ontology(**MESH.located(data)))
    for round in count():
        mark = f" {round}" if round else ""
        for concept in concepts:
            if names <= 0:
                return
            names -= len(concept.names)
            yield Concept(
                f"{concept.concept_id}{mark}".replace(" ", "-"),
                f"{concept.canonical_name}{mark}",
                tuple(f"{alias}{mark}" for alias in concept.aliases),
            )


def renamed(concept: Concept, draw: random.Random) -> Concept:
    """RETURNS (Concept): With another last synonym, in one of a hundred cases."""
    if draw.random() >= CHANGED:
        return concept
    return replace(concept, aliases=(*concept.aliases[:-1], f"{concept.canonical_name} as changed"))


def require_same(one: Path, other: Path) -> None:
    """Refuse indexes that differ in more than the time and the way they were built."""
    index = Path("concept_normalizer") / "index"
    names = {path.name for path in (one / index).iterdir()} - {MANIFEST}
    for name in sorted(names):
        if (one / index / name).read_bytes() != (other / index / name).read_bytes():
            fail(f"{name} of the reused index is not that of a build from nothing.")


if __name__ == "__main__":
    main()
