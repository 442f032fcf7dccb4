"""Names a second that encoders encode: a transformer in PyTorch, exported for ONNX Runtime in full
precision and in eight bits, and the DAN on one core; and, with `--accuracy`, what that costs: Acc@1
of each on NCBI and BC5CDR, through an exact index of its own vectors.

Encoders take turns on the same names, so that what else the machine does falls on all of them
alike, and each is compared with PyTorch turn by turn. With `--device`, another question: how much
of a GPU's bf16 peak PyTorch reaches.

Example: python benchmarks/encoding.py --names 4000 --accuracy --data ../shared/data
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from _common.builders import build_lookup, encoder_config, make_sieve
from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import Data
from _measure.device import measure_device
from accuracy import DEPTH, predict, read_standard
from spacy import registry

from spacy_connorm.cli.export import PRECISIONS, export
from spacy_connorm.concepts import Candidate
from spacy_connorm.encoders.pretrained import MINILM
from spacy_connorm.encoders.protocol import Encoder, encode, fingerprint
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row

DATASETS = ("ncbi", "bc5cdr-d")
SIEVE = "D-T+OD-T"
LEAST_REPEATS = 5
PYTORCH, DAN = "PyTorch fp32", "DAN, one core"
RATIOS = ("ratio", "lowest_ratio", "highest_ratio", "processor_ratio")
POINTS = ("lenient@1", "strict@1", "lenient_difference", "strict_difference", "same_first")


class Turn(NamedTuple):
    """What one pass over all names took, in seconds.

    clock (float): By the clock.
    processor (float): What all threads worked, added up.
    """

    clock: float
    processor: float


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        tables = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    finish_tables(tables, arguments.json, precise=(*RATIOS, *POINTS, "share_of_peak"))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument(
        "--transformer", default=MINILM, help="a folder or a name on the hub [%(default)s]"
    )
    parser.add_argument(
        "--dan", default="dan", help="dan, a training config (.cfg) or a folder [%(default)s]"
    )
    parser.add_argument(
        "--names", type=at_least(1), help="a sample of MEDIC's names, of every length [all]"
    )
    parser.add_argument(
        "--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]"
    )
    parser.add_argument("--accuracy", action="store_true", help="measure accuracy, too")
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), help="share of its bf16 peak, instead of all that"
    )
    parser.add_argument(
        "--peak-tflops", type=float, help="bf16 peak of a device that the benchmark does not know"
    )
    parser.add_argument(
        "--batch", type=at_least(1), default=1024, help="with --device: texts of a batch"
    )
    parser.add_argument(
        "--shape",
        nargs="+",
        metavar="FOLDER",
        help="with --device: [MiniLM and a random BERT-base]",
    )
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Rows by the title of their table."""
    data = {name: Data(name, arguments.data) for name in DATASETS}
    texts = sample(names_of(data["ncbi"]), arguments.names)
    if arguments.device:
        return {"Encoding on a device": measure_device(texts, arguments)}
    blocks = make_blocks(data["ncbi"], arguments)
    encoders = {name: load(block) for name, block in blocks.items()}
    tables = {"Names a second": measure_speed(encoders, texts, repeats=arguments.repeats)}
    if arguments.accuracy:
        tables["Accuracy"] = [
            row for each in data.values() for row in measure_accuracy(blocks, each, arguments.work)
        ]
    return tables


def names_of(data: Data) -> list[str]:
    """RETURNS (List[str]): The different names of an ontology, short ones first."""
    names = {name for each in data.ontology for name in (each.canonical_name, *each.aliases)}
    return sorted(names, key=lambda name: (len(name), name))


def sample(names: Sequence[str], count: int | None) -> list[str]:
    """RETURNS (List[str]): So many names at even distances; all if there are not as many."""
    if count is None or count >= len(names):
        return list(names)
    return [names[number * len(names) // count] for number in range(count)]


def make_blocks(data: Data, arguments: Namespace) -> dict[str, dict[str, Any]]:
    """RETURNS (Dict[str, Dict[str, Any]]): The block of each encoder; PyTorch comes first."""
    name = arguments.transformer
    block = {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": name}
    if Path(name).is_dir():
        block = encoder_config(name, data, work=arguments.work)
    key = fingerprint(load(block))
    blocks = {PYTORCH: block}
    for precision in reversed(PRECISIONS):
        folder = arguments.work / f"onnx-{precision}-{key}"
        if not folder.is_dir():
            export(name, folder, precision=precision, settings={})
        onnx = {"@architectures": "spacy-connorm.OnnxEncoder.v1", "name": str(folder)}
        blocks[f"ONNX {precision}"] = onnx
    return {**blocks, DAN: encoder_config(arguments.dan, data, work=arguments.work)}


def load(block: dict[str, Any]) -> Encoder:
    """RETURNS (Model[List[str], Floats2d]): The encoder, loaded."""
    encoder = registry.resolve({"encoder": block})["encoder"]
    encoder.initialize()
    return encoder


def measure_speed(encoders: dict[str, Encoder], texts: Sequence[str], *, repeats: int) -> list[Row]:
    """Let encoders take turns.

    encoders (Dict[str, Model[List[str], Floats2d]]): By name; the first is what others are
        compared with.
    texts (Sequence[str]): The names.
    repeats (int): Turns of each.
    RETURNS (List[Dict[str, Any]]): A row an encoder.
    """
    turns: dict[str, list[Turn]] = {name: [] for name in encoders}
    for name, encoder in encoders.items():
        _time(name, encoder, sample(texts, 100))  # the first texts fill caches
    names = list(encoders)
    for repeat in range(repeats):
        first = repeat % len(names)
        for name in names[first:] + names[:first]:
            turns[name].append(_time(name, encoders[name], texts))
    return [
        {"encoder": name, "names": len(texts), **speed_row(own, turns[names[0]], len(texts))}
        for name, own in turns.items()
    ]


def _time(name: str, encoder: Encoder, texts: Sequence[str]) -> Turn:
    # Beside the tokenizer nothing in the DAN has several threads.
    os.environ["TOKENIZERS_PARALLELISM"] = "false" if name == DAN else "true"
    clock, processor = perf_counter(), process_time()
    encode(encoder, texts)
    return Turn(perf_counter() - clock, process_time() - processor)


def speed_row(turns: Sequence[Turn], first: Sequence[Turn], count: int) -> Row:
    """Describe how fast an encoder is.

    turns (Sequence[Turn]): Its own.
    first (Sequence[Turn]): Those of the encoder that it is compared with.
    count (int): Names of a turn.
    RETURNS (Dict[str, Any]): Names a second, and how many times as many as the other's turn by
        turn: median and extremes; and the same by processor time, which other work on the machine
        changes less.
    """
    pairs = list(zip(turns, first, strict=True))
    seconds = [turn.clock for turn in turns]
    ratios = [other.clock / own.clock for own, other in pairs]
    return {
        "repeats": len(turns),
        "names_per_s": round(count / median(seconds)),
        "slowest": round(count / max(seconds)),
        "fastest": round(count / min(seconds)),
        "ratio": round(median(ratios), 2),
        "lowest_ratio": round(min(ratios), 2),
        "highest_ratio": round(max(ratios), 2),
        "processor_ratio": round(
            median(other.processor / own.processor for own, other in pairs), 2
        ),
    }


def measure_accuracy(blocks: dict[str, dict[str, Any]], data: Data, work: Path) -> Iterator[Row]:
    """Score encoders on a data set's test part.

    blocks (Dict[str, Dict[str, Any]]): Their blocks, by name; the first is what others are compared
        with.
    data (Data): The data set.
    work (Path): Keeps vectors of texts.
    YIELDS (Dict[str, Any]): Acc@1, how far it is from the first encoder's, in points, and the
        percentage of mentions for which both find the same concept first.
    """
    gold = read_standard(data)
    expected: Row = {}
    first: list[str] = []
    for name, block in blocks.items():
        lookup = build_lookup(block, data, searches=[SIEVE], work=work)
        lookup.sieve = make_sieve(SIEVE)
        found = lookup.candidates([mention.text for mention in gold], top_k=DEPTH)
        scores = score_row(score_predictions(gold, predict(found)))
        expected, first = expected or scores, first or first_concepts(found)
        yield {
            "dataset": data.name,
            "encoder": name,
            "mentions": scores["mentions"],
            "lenient@1": scores["lenient@1"],
            "strict@1": scores["strict@1"],
            "lenient_difference": scores["lenient@1"] - expected["lenient@1"],
            "strict_difference": scores["strict@1"] - expected["strict@1"],
            "same_first": agreement(first, first_concepts(found)),
        }


def first_concepts(found: Sequence[Sequence[Candidate]]) -> list[str]:
    """RETURNS (List[str]): The concept that comes first for each mention; empty if none does."""
    return [candidates[0].concept_id if candidates else "" for candidates in found]


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """RETURNS (float): The percentage of places in which two lists are the same."""
    return 100 * sum(map(str.__eq__, one, other)) / len(one)


if __name__ == "__main__":
    main()
