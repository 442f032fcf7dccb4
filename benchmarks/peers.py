"""Our pipeline beside scispaCy's candidate generator: how many mentions a second, how soon, in how
much memory, how often right, and how long an index takes to build.

Both index the same texts (O, the ontology's names; or OD, those of annotated data too, which stand
among scispaCy's aliases), read the same mentions in document order as they are written, and keep to
the same cores. Ours is a whole pipeline, from documents with entities to candidates on them, or
`candidates([text])` one by one. scispaCy's is called with the mentions alone, for the 30 neighbours
that its EntityLinker asks for, and not charged for sorting what it finds. A turn begins with an
index just opened, which has seen one made-up text; "again" reads the same mentions a second time.

scispaCy gets an environment of its own, made from scispacy.txt by the first run.

Example: python benchmarks/peers.py --ours minilm dan --data ../shared/data
"""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import Data
from _common.machine import thread_count
from _peers.process import Peer, describe_environment, make_environment
from _peers.rows import Build, Reading, Start, answer_row, build_row, speed_row, start_row
from _peers.sides import (
    SCISPACY,
    SIEVES,
    Side,
    mentions_by_document,
    our_side,
    scispacy_side,
    write_files,
)
from accuracy import read_standard

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.report import Row

DATASETS = ("ncbi", "bc5cdr-d")
LEAST_REPEATS = 5
# Beside all candidates: what EntityLinker keeps.
THRESHOLD = 0.7
WARM_UP = "congenital absence of all benchmarks"
RATIOS = [
    f"{which}{prefix}ratio" for which in ("", "lowest_", "highest_") for prefix in ("", "again_")
]
Tables = Mapping[str, list[Row]]
Item = TypeVar("Item")


class Turns(NamedTuple):
    """What one side did in all turns.

    starts (List[Start]): One a repeat.
    readings (Dict[int, List[Reading]]): By documents of a call, one a repeat.
    """

    starts: list[Start]
    readings: dict[int, list[Reading]]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    if not Path("/proc/self/status").is_file():
        fail("Linux only: peak memory is read from /proc/*/status.")
    try:
        tables = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    finish_tables(tables, arguments.json, precise=RATIOS)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is compared."""
    add = parser.add_argument
    add("--dataset", choices=DATASETS, nargs="+", default=DATASETS, help="[both]")
    add("--ours", nargs="+", default=["minilm", "dan"], help="minilm, dan, ngram or a FOLDER")
    add("--index", nargs="+", default=["annoy"], help="annoy, exact or a registered name [annoy]")
    add("--setting", type=read_setting, nargs="+", default=[], metavar="NAME=JSON", help="of ours")
    add("--texts", choices=SIEVES, nargs="+", default=["OD", "O"], help="what is indexed [both]")
    add("--batch", type=at_least(2), default=32, help="documents of a large call [%(default)s]")
    add("--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]")
    add(
        "--builds",
        type=at_least(0),
        default=LEAST_REPEATS,
        help="timed builds of the first data set and texts; 0 times none [%(default)s]",
    )
    add("--python", default=sys.executable, help="for scispaCy: 3.10 or 3.11 [the present one]")
    return parser


def read_setting(text: str) -> tuple[str, Any]:
    """RETURNS (Tuple[str, Any]): The name and the value of NAME=JSON."""
    name, equals, value = text.partition("=")
    try:
        if name and equals:
            return name, json.loads(value)
    except json.JSONDecodeError:
        pass
    raise ArgumentTypeError(f"expected NAME=JSON, not '{text}'")


def measure(arguments: Namespace) -> Tables:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Rows by title."""
    tables: dict[str, list[Row]] = defaultdict(list)
    python = make_environment(arguments.python, arguments.work)
    print(describe_environment(python), file=sys.stderr)
    work = arguments.work / "peers"
    builds = arguments.builds
    for dataset, texts in product(arguments.dataset, arguments.texts):
        data = Data(dataset, arguments.data)
        sides = make_sides(data, texts, python, work, arguments)
        labels = {"dataset": dataset, "texts": texts}
        built = time_builds(sides, builds)
        builds = 0
        turns = take_turns(sides, (arguments.batch, 1, 0), arguments.repeats)
        for title, row in rows_of(data, sides, built, turns):
            tables[title].append({**labels, **row})
    return tables


def make_sides(
    data: Data, texts: str, python: Path, work: Path, arguments: Namespace
) -> list[Side]:
    """RETURNS (List[Side]): scispaCy's and all of ours."""
    files = write_files(data, texts, work)
    how = {"settings": dict(arguments.setting), "work": work}
    return [
        scispacy_side(python, files, work),
        *(
            our_side(encoder, data, texts, files, index=index, **how)
            for encoder, index in product(arguments.ours, arguments.index)
        ),
    ]


def time_builds(sides: Sequence[Side], repeats: int) -> list[list[Build]]:
    """Build indexes in turns; without repeats, those that no earlier run built.

    sides (Sequence[Side]): Whose.
    repeats (int): Builds of each.
    RETURNS (List[List[Build]]): Of each side its builds.
    """
    if not repeats:
        for side in sides:
            if not side.folder.is_dir():
                build(side)
    builds: list[list[Build]] = [[] for _ in sides]
    for repeat in range(repeats):
        for place in rotated(range(len(sides)), repeat):
            builds[place].append(build(sides[place]))
    return builds


def build(side: Side) -> Build:
    """RETURNS (Build): What building its index took, in a process of its own."""
    aside = side.folder.with_name(f"{side.folder.name}.part")
    rmtree(aside, ignore_errors=True)
    with Peer(side.command, threads=thread_count()) as peer:
        taken = Build(*side.build(peer, aside), peer.peak_mb())
    rmtree(side.folder, ignore_errors=True)
    aside.rename(side.folder)
    return taken


def take_turns(sides: Sequence[Side], batches: Sequence[int], repeats: int) -> list[Turns]:
    """Let sides look the same mentions up in turns, each repeat in new processes.

    sides (Sequence[Side]): The sides.
    batches (Sequence[int]): Documents of a call; 0 for one mention a call.
    repeats (int): Turns of each side and number of documents.
    RETURNS (List[Turns]): Of each side.
    """
    turns = [Turns([], {batch: [] for batch in batches}) for _ in sides]
    for repeat in range(repeats):
        with ExitStack() as stack:
            peers: dict[int, Peer] = {}
            for place in rotated(range(len(sides)), repeat):
                begun = perf_counter()
                peer = Peer(sides[place].command, threads=thread_count())
                peers[place] = stack.enter_context(peer)
                open_s = open_cold(sides[place], peer)
                ready = perf_counter() - begun
                turns[place].readings[batches[0]].append(read(peer, batches[0]))
                turns[place].starts.append(Start(ready, open_s, peer.peak_mb()))
            for number, batch in enumerate(batches[1:], start=repeat + 1):
                for place in rotated(range(len(sides)), number):
                    open_cold(sides[place], peers[place])
                    turns[place].readings[batch].append(read(peers[place], batch))
    return turns


def open_cold(side: Side, peer: Peer) -> float:
    """RETURNS (float): Seconds that opening took; one text is looked up after that."""
    open_s = side.open(peer)
    peer.ask("answer", mentions=[WARM_UP])
    return open_s


def read(peer: Peer, batch: int) -> Reading:
    """RETURNS (Reading): Of all mentions, twice."""
    return Reading(*(peer.ask("read", documents=batch) for _ in Reading._fields))


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """RETURNS (List[Item]): The items from another one on."""
    first = by % len(items)
    return [*items[first:], *items[:first]]


def rows_of(
    data: Data, sides: Sequence[Side], builds: Sequence[list[Build]], turns: Sequence[Turns]
) -> Iterator[tuple[str, Row]]:
    """YIELDS (Tuple[str, Dict[str, Any]]): Titles and rows; scispaCy's, the first side's, are what
    the others are compared with.
    """
    mentions = sum(map(len, mentions_by_document(data)))
    gold = read_standard(data)
    for side, built, own in zip(sides, builds, turns, strict=True):
        with Peer(side.command, threads=thread_count()) as peer:
            side.open(peer)
            found = peer.ask("answer", mentions=[each.text for each in gold])
        name = {"side": side.name}
        for batch, readings in own.readings.items():
            call = {0: "one by one", 1: "1 document"}.get(batch, f"{batch} documents")
            speed = speed_row(readings, turns[0].readings[batch], mentions)
            yield "Mentions a second", {**name, "call": call, **speed}
        thresholds = (None, THRESHOLD) if side.name == SCISPACY else (None,)
        for threshold in thresholds:
            scores = answer_row(gold, found, threshold=threshold)
            yield "Answers", {**name, "over": threshold, **scores}
        size = sum(path.stat().st_size for path in side.folder.rglob("*") if path.is_file())
        start = start_row(own.starts, turns[0].starts)
        yield "Start and memory", {**name, **start, "folder_mb": round(size / 1e6)}
        if built:
            yield "Builds", {**name, **build_row(built, builds[0])}


if __name__ == "__main__":
    main()
