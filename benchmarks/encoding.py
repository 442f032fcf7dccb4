"""How many names per second encoders encode: a transformer in PyTorch, exported for ONNX Runtime in
full precision and in eight bits, and the DAN on one core. With `--accuracy`, also what that costs:
Acc@1 of each on NCBI and BC5CDR, with an exact index of its own vectors.

Encoders take turns on the same names, and each is compared with PyTorch turn by turn. `--device`
asks another question: how much of a GPU's bf16 peak PyTorch reaches.

Example: python benchmarks/encoding.py --names 4000 --accuracy --data ../shared/data
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from _common.builders import SIEVE, build_lookup, encoder_config, load_encoder, make_sieve
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import DISEASES, Data
from _common.options import add_repeats, at_least
from _common.scoring import DEPTH, predict, read_standard, same_first_concept
from _measure.device import measure_device
from _measure.interleaved import ratio_columns, ratios, speed_columns, take_turns
from _measure.stopwatch import Seconds, time_call

from spacy_connorm.encoders.model_packages import MINILM
from spacy_connorm.encoders.protocol import Encoder, encode, fingerprint
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.training.export import PRECISIONS, export_encoder

PYTORCH, DAN = "PyTorch fp32", "DAN, one core"
RATIOS = ("ratio", "lowest_ratio", "highest_ratio", "processor_ratio")
POINTS = ("lenient@1", "strict@1", "lenient_difference", "strict_difference", "same_first")
WARM_UP = 100


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=(*RATIOS, *POINTS, "share_of_peak"))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument(
        "--transformer", default=MINILM, help="a folder or a name on the hub [%(default)s]"
    )
    parser.add_argument(
        "--dan", default="dan", help="dan, a training config (.cfg) or a folder [%(default)s]"
    )
    parser.add_argument(
        "--names", type=at_least(1), help="a sample of MEDIC's names, of every length [all]"
    )
    add_repeats(parser)
    parser.add_argument("--accuracy", action="store_true", help="measure accuracy, too")
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), help="measure the share of its bf16 peak instead"
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
    data = {name: Data(name, arguments.data) for name in DISEASES}
    texts = sample(names_of(data["ncbi"]), arguments.names)
    if arguments.device:
        return {"Encoding on a device": measure_device(texts, arguments)}
    blocks = make_blocks(data["ncbi"], arguments)
    encoders = {name: load_encoder(block) for name, block in blocks.items()}
    tables = {"Names a second": measure_speed(encoders, texts, repeats=arguments.repeats)}
    if arguments.accuracy:
        tables["Accuracy"] = [
            row for each in data.values() for row in measure_accuracy(blocks, each, arguments.work)
        ]
    return tables


def names_of(data: Data) -> list[str]:
    """RETURNS (List[str]): The distinct names of an ontology, short ones first."""
    names = {name for each in data.ontology for name in (each.canonical_name, *each.aliases)}
    return sorted(names, key=lambda name: (len(name), name))


def sample(names: Sequence[str], count: int | None) -> list[str]:
    """RETURNS (List[str]): This many evenly spaced names; all if there are fewer."""
    if count is None or count >= len(names):
        return list(names)
    return [names[number * len(names) // count] for number in range(count)]


def make_blocks(data: Data, arguments: Namespace) -> dict[str, dict[str, Any]]:
    """RETURNS (Dict[str, Dict[str, Any]]): The block of each encoder, PyTorch first."""
    name = arguments.transformer
    block = {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": name}
    if Path(name).is_dir():
        block = encoder_config(name, data, work=arguments.work)
    key = fingerprint(load_encoder(block))
    blocks = {PYTORCH: block}
    for precision in reversed(PRECISIONS):
        folder = arguments.work / f"onnx-{precision}-{key}"
        if not folder.is_dir():
            export_encoder(name, folder, precision=precision)
        onnx = {"@architectures": "spacy-connorm.OnnxEncoder.v1", "name": str(folder)}
        blocks[f"ONNX {precision}"] = onnx
    return {**blocks, DAN: encoder_config(arguments.dan, data, work=arguments.work)}


def measure_speed(encoders: dict[str, Encoder], texts: Sequence[str], *, repeats: int) -> list[Row]:
    """Time encoders in turns.

    encoders (Dict[str, Model[List[str], Floats2d]]): By name. All are compared with the first.
    texts (Sequence[str]): The names.
    repeats (int): Turns of each encoder.
    RETURNS (List[Dict[str, Any]]): One row an encoder.
    """
    for name, encoder in encoders.items():
        time_encoding(name, encoder, sample(texts, WARM_UP))
    turns = take_turns(
        [partial(time_encoding, name, encoder, texts) for name, encoder in encoders.items()],
        repeats,
    )
    return [
        {"encoder": name, "names": len(texts), **speed_row(own, turns[0], len(texts))}
        for name, own in zip(encoders, turns, strict=True)
    ]


def time_encoding(name: str, encoder: Encoder, texts: Sequence[str], repeat: int = 0) -> Seconds:
    """RETURNS (Seconds): How long it takes to encode texts."""
    # The tokenizer is the only part of the DAN with several threads.
    os.environ["TOKENIZERS_PARALLELISM"] = "false" if name == DAN else "true"
    return time_call(lambda: encode(encoder, texts))


def speed_row(turns: Sequence[Seconds], first: Sequence[Seconds], count: int) -> Row:
    """Describe the speed of an encoder.

    turns (Sequence[Seconds]): Its turns.
    first (Sequence[Seconds]): Those of the encoder to compare with.
    count (int): Names of a turn.
    RETURNS (Dict[str, Any]): Names per second and their ratio to the other encoder's, also by
        processor time, which other work on the machine changes less.
    """
    processor = ([turn.processor for turn in each] for each in (turns, first))
    return {
        "repeats": len(turns),
        **speed_columns([count / turn.clock for turn in turns], "names_per_s"),
        **ratio_columns([turn.clock for turn in turns], [turn.clock for turn in first]),
        "processor_ratio": round(median(ratios(*processor)), 2),
    }


def measure_accuracy(blocks: dict[str, dict[str, Any]], data: Data, work: Path) -> Iterator[Row]:
    """Score encoders on a data set's test part.

    blocks (Dict[str, Dict[str, Any]]): Their blocks, by name. All are compared with the first.
    data (Data): The data set.
    work (Path): Keeps vectors of texts.
    YIELDS (Dict[str, Any]): Acc@1, its difference to the first encoder's in points, and the
        percentage of mentions with the same first concept.
    """
    gold = read_standard(data)
    expected: Row = {}
    for name, block in blocks.items():
        lookup = build_lookup(block, data, searches=[SIEVE], work=work)
        lookup.sieve = make_sieve(SIEVE)
        found = lookup.candidates([mention.text for mention in gold], top_k=DEPTH)
        scores = score_row(score_predictions(gold, predict(found)))
        if not expected:
            expected, first = scores, found
        yield {
            "dataset": data.name,
            "encoder": name,
            "mentions": scores["mentions"],
            "lenient@1": scores["lenient@1"],
            "strict@1": scores["strict@1"],
            "lenient_difference": scores["lenient@1"] - expected["lenient@1"],
            "strict_difference": scores["strict@1"] - expected["strict@1"],
            "same_first": same_first_concept(first, found),
        }


if __name__ == "__main__":
    main()
