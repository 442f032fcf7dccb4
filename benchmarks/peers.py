"""How our pipeline compares with scispaCy's candidate generator: speed, start-up, memory, accuracy.

Both index the same texts (O, the ontology's names; or OD, also those of annotated data, which are
aliases for scispaCy), read the same mentions in document order as they are written, and run on the
same cores. Ours is a whole pipeline, from documents with entities to candidates on them, or
`candidates([text])` one by one. scispaCy's generator is called with the mentions alone, for the 30
neighbours that EntityLinker asks for, and is not charged for sorting them. Each reading starts with
an index just opened that has seen one made-up text, and with garbage collected; "again" reads the
same mentions a second time.

scispaCy gets an environment of its own, which the first run makes from _peers/scispacy.txt
with the Python that runs it, 3.10 or 3.11.

Example: python benchmarks/peers.py --ours minilm-int8 dan --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from shutil import rmtree
from time import perf_counter

from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import DISEASES, Data
from _common.options import add_repeats
from _common.scoring import read_standard
from _measure.environments import make_pinned_environment
from _measure.interleaved import take_turns
from _measure.memory_usage import require_proc
from _peers.process import REQUIREMENTS, Peer
from _peers.rows import Passes, Start, Turn, answer_row, speed_row, start_row
from _peers.sides import (
    TEXTS,
    Side,
    mentions_by_document,
    our_side,
    scispacy_side,
    write_files,
)

from spacy_connorm.evaluation.report import Row

# Documents per call; 0 for one mention per call.
CALLS = {32: "32 documents", 1: "1 document", 0: "one by one"}
WARM_UP = "congenital absence of all benchmarks"
RATIOS = [
    f"{which}{prefix}ratio" for which in ("", "lowest_", "highest_") for prefix in ("", "again_")
]
Tables = Mapping[str, list[Row]]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    require_proc()
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=RATIOS)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--dataset", choices=DISEASES, nargs="+", default=DISEASES, help="[both]")
    add(
        "--ours",
        nargs="+",
        default=["minilm-int8", "dan"],
        help="minilm-int8, minilm, dan, ngram or a FOLDER",
    )
    add(
        "--index",
        nargs="+",
        default=["auto"],
        help="auto, exact, a registered name or a pipeline's CONFIG.cfg [auto]",
    )
    add("--texts", choices=TEXTS, nargs="+", default=["OD", "O"], help="what is indexed [both]")
    add_repeats(parser)
    return parser


def measure(arguments: Namespace) -> Tables:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Rows by title."""
    tables: dict[str, list[Row]] = defaultdict(list)
    python = make_pinned_environment("scispacy", REQUIREMENTS, work=arguments.work)
    work = arguments.work / "peers"
    for dataset, texts in product(arguments.dataset, arguments.texts):
        data = Data(dataset, arguments.data)
        sides = make_sides(data, texts, python, work, arguments)
        labels = {"dataset": dataset, "texts": texts}
        for side in sides:
            if not side.folder.is_dir():
                build(side)
        turns = take_turns([partial(read_once, side) for side in sides], arguments.repeats)
        for title, row in rows_of(data, sides, turns):
            tables[title].append({**labels, **row})
    return tables


def make_sides(
    data: Data, texts: str, python: Path, work: Path, arguments: Namespace
) -> list[Side]:
    """RETURNS (List[Side]): scispaCy's and all of ours."""
    files = write_files(data, texts, work)
    return [
        scispacy_side(python, files, work),
        *(
            our_side(encoder, data, texts, files, index=index, work=work)
            for encoder, index in product(arguments.ours, arguments.index)
        ),
    ]


def build(side: Side) -> None:
    """Build a side's index, in a process of its own."""
    aside = side.folder.with_name(f"{side.folder.name}.part")
    rmtree(aside, ignore_errors=True)
    with Peer(side.command) as peer:
        peer.ask("build", folder=str(aside), **side.builds)
    aside.rename(side.folder)


def read_once(side: Side, repeat: int) -> Turn:
    """Search all mentions in a new process.

    side (Side): Which side's.
    repeat (int): The number of the turn; not used.
    RETURNS (Turn): How long it took.
    """
    begun = perf_counter()
    with Peer(side.command) as peer:
        open_cold(side, peer)
        ready = perf_counter() - begun
        large, *others = CALLS
        passes = {large: read_twice(peer, large)}
        start = Start(ready, peer.peak_mb())
        for batch in others:
            open_cold(side, peer)
            passes[batch] = read_twice(peer, batch)
    return Turn(start, passes)


def open_cold(side: Side, peer: Peer) -> None:
    """Open the index and search one text."""
    side.open(peer)
    peer.ask("answer", mentions=[WARM_UP])


def read_twice(peer: Peer, batch: int) -> Passes:
    """RETURNS (Passes): Seconds to read all mentions, and to read them again."""
    return Passes(*(peer.ask("read", documents=batch) for _ in Passes._fields))


def rows_of(
    data: Data, sides: Sequence[Side], turns: Sequence[list[Turn]]
) -> Iterator[tuple[str, Row]]:
    """YIELDS (Tuple[str, Dict[str, Any]]): Titles and rows. All sides are compared with the first,
    scispaCy's.
    """
    mentions = sum(map(len, mentions_by_document(data)))
    gold = read_standard(data)
    for side, own in zip(sides, turns, strict=True):
        with Peer(side.command) as peer:
            side.open(peer)
            found = peer.ask("answer", mentions=[mention.text for mention in gold])
        name = {"side": side.name}
        for batch, call in CALLS.items():
            passes, others = ([turn.passes[batch] for turn in each] for each in (own, turns[0]))
            speed = speed_row(passes, others, mentions)
            yield "Mentions a second", {**name, "call": call, **speed}
        yield "Answers", {**name, **answer_row(gold, found)}
        size = sum(path.stat().st_size for path in side.folder.rglob("*") if path.is_file())
        start = start_row([turn.start for turn in own], [turn.start for turn in turns[0]])
        yield "Start and memory", {**name, **start, "folder_mb": round(size / 1e6)}


if __name__ == "__main__":
    main()
