"""How fast our training loop is beside SapBERT's: texts per second with the same encoder and
batches of MEDIC 2012, in turns, with the same precision (fp32) and as each is configured (half
precision where the processor supports it; SapBERT's needs CUDA).

Example: python benchmarks/training.py --data ../shared/data --json training.json
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from _common.builders import encoder_config, load_encoder
from _common.cli import begin, clear_errors, fail, finish_tables, make_parser
from _common.datasets import Data
from _common.options import add_repeats, at_least
from _measure.interleaved import ratios, speed_columns, spread, take_turns
from _measure.stopwatch import clock_of

from spacy_connorm.encoders import encoder_inputs, trainable
from spacy_connorm.evaluation.report import Row
from spacy_connorm.training.pool import SynonymPool, build_pool

if TYPE_CHECKING:
    from _common.training_loops import Batches, OurLoop, SapBertStyle

    Loop = SapBertStyle | OurLoop

LEARNING_RATE = 2e-5
Tables = dict[str, list[Row]]


def main() -> None:
    parser = make_parser(__doc__ or "")
    add = parser.add_argument
    add("--encoder", default="minilm", help="minilm or a FOLDER [%(default)s]")
    add("--batch", type=at_least(4), default=512, help="texts [%(default)s]")
    add("--steps", type=at_least(1), default=2, help="of a loop per repeat [%(default)s]")
    add_repeats(parser)
    add("--micro-batch-tokens", type=at_least(1), default=2048, help="of our loop [%(default)s]")
    arguments = begin(parser)
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=("median", "lowest", "highest"))


def measure(arguments: Namespace) -> Tables:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): The tables by title."""
    from _common.training_loops import MAX_LENGTH, Batches, OurLoop, SapBertStyle

    data = Data("ncbi", arguments.data, part="dev")
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    if not block["@architectures"].startswith("spacy-connorm.TransformerEncoder."):
        fail("The loops are compared on a transformer: give minilm or the folder of one.")
    block |= {"max_length": MAX_LENGTH}
    module, pool = start_from(block, data)
    device = f"cuda:{arguments.gpu_id}" if arguments.gpu_id >= 0 else "cpu"
    half = half_precision(device)
    settings = {"device": device, "learning_rate": LEARNING_RATE}
    make = {
        "theirs": partial(SapBertStyle, module, **settings),
        "ours": partial(OurLoop, module, **settings),
    }
    amp = "fp16" if arguments.gpu_id >= 0 else "fp32"
    tables: Tables = {}
    with TemporaryDirectory(dir=arguments.work) as work:
        tokens = arguments.micro_batch_tokens
        how = {"size": arguments.batch, "micro_batch_tokens": tokens, "folder": Path(work)}
        batches = Batches(pool, module, **how)
        precisions = {"theirs": ("fp32", amp), "ours": ("fp32", half)}
        loops = {
            (side, precision): make[side](precision=precision)
            for side, wanted in precisions.items()
            for precision in dict.fromkeys(wanted)
        }
        times = take_turns(
            [partial(time_steps, loop, batches, arguments.steps) for loop in loops.values()],
            arguments.repeats,
            warm_up=1,
        )
        tables["Texts a second"] = [
            throughput_row(loop, batches, arguments, seconds)
            for loop, seconds in zip(loops.values(), times, strict=True)
        ]
        by_loop = dict(zip(loops, times, strict=True))
        tables["Our loop against the SapBERT-style one"] = [
            speedup_row("same precision", by_loop, "fp32", "fp32"),
            speedup_row("as configured", by_loop, half, amp),
        ]
    return tables


def start_from(block: dict[str, Any], data: Data) -> tuple[Any, SynonymPool]:
    """RETURNS (Tuple[TrainableModule, SynonymPool]): The weights both loops start from, and the
    texts they train on.
    """
    encoder = load_encoder(block)
    inputs = partial(encoder_inputs, encoder)
    pool, _ = build_pool(data.ontology, inputs=inputs, use_ontology=True, data_share=None)
    return trainable(encoder), pool


def half_precision(device: str) -> str:
    """RETURNS (str): "bf16" if the device supports it, else "fp32"."""
    if device.startswith("cuda"):
        return "bf16"
    flags = Path("/proc/cpuinfo")
    known = flags.read_text() if flags.is_file() else ""
    return "bf16" if "amx_bf16" in known or "avx512_bf16" in known else "fp32"


def time_steps(loop: "Loop", batches: "Batches", steps: int, repeat: int) -> float:
    """RETURNS (float): Seconds of a turn."""
    clock = clock_of(loop.device)
    start = clock()
    for number in batch_numbers(batches, steps, repeat):
        loop.step(batches, number)
    return clock() - start


def batch_numbers(batches: "Batches", steps: int, repeat: int) -> list[int]:
    """RETURNS (List[int]): The batches of a turn, the same for all loops."""
    return [(repeat * steps + step) % len(batches) for step in range(steps)]


def throughput_row(
    loop: "Loop",
    batches: "Batches",
    arguments: Namespace,
    seconds: Sequence[float],
) -> Row:
    """RETURNS (Dict[str, Any]): The speed of a loop."""
    texts = [
        sum(len(batches.rows[number]) for number in batch_numbers(batches, arguments.steps, repeat))
        for repeat in range(arguments.repeats)
    ]
    speeds = [count / each for count, each in zip(texts, seconds, strict=True)]
    return {
        "loop": loop.name,
        "precision": loop.precision,
        "passes": loop.passes,
        "mining": loop.mining,
        "batch": arguments.batch,
        "tokens_per_text": round(loop.tokens_per_text(batches, 0), 2),
        "repeats": len(speeds),
        **speed_columns(speeds, "texts_per_s", digits=1),
    }


def speedup_row(
    comparison: str, times: dict[tuple[str, str], list[float]], ours: str, theirs: str
) -> Row:
    """RETURNS (Dict[str, Any]): How many times as fast our loop was."""
    found = spread(ratios(times["ours", ours], times["theirs", theirs])).rounded(2)
    return {
        "comparison": comparison,
        "theirs": theirs,
        "ours": ours,
        **found._asdict(),
    }


if __name__ == "__main__":
    main()
