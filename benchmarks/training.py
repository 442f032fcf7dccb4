"""How fast our training loop is beside SapBERT's: texts per second with the same encoder and
batches, in turns, with the same precision (fp32) and as each is configured (half precision where
the processor supports it; SapBERT's needs CUDA). Then the objectives' share of a training step with
a large batch. With `--accuracy MINUTES`, also the accuracy of both encoders after the same number
of steps from the same weights on the same batches.

Both train on MEDIC 2012. Accuracy is that of D-T+OD-T on NCBI's dev part, with its train as D.

Example: python benchmarks/training.py --data ../shared/data --json training.json
"""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from _common.builders import encoder_config, load_encoder
from _common.cli import begin, clear_errors, fail, finish_tables, make_parser
from _common.datasets import Data
from _common.options import at_least
from _measure.interleaved import ratios, speed_columns, spread, take_turns
from _measure.stopwatch import clock_of
from spacy import registry

from spacy_connorm.encoders import encoder_inputs, trainable
from spacy_connorm.evaluation.report import Row
from spacy_connorm.training.pool import SynonymPool, build_pool

if TYPE_CHECKING:
    from _common.training_loops import Batches, Loop, OurLoop

# The last one costs most.
OBJECTIVES = ("MultiSimilarity", "BatchHardTriplet", "SupervisedContrastive", "Circle")
Tables = dict[str, list[Row]]


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--encoder", default="minilm", help="minilm or a FOLDER [%(default)s]")
    parser.add_argument("--batch", type=at_least(4), default=512, help="texts [%(default)s]")
    parser.add_argument(
        "--steps", type=at_least(1), default=2, help="of a loop per repeat [%(default)s]"
    )
    parser.add_argument("--repeats", type=at_least(5), default=5, help="[%(default)s]")
    parser.add_argument(
        "--objective-batch",
        type=at_least(4),
        default=1500,
        help="texts, for the objectives [%(default)s]",
    )
    parser.add_argument(
        "--micro-batch-tokens", type=at_least(1), default=2048, help="of our loop [%(default)s]"
    )
    parser.add_argument("--device", default="cpu", help="a torch device [%(default)s]")
    parser.add_argument(
        "--accuracy",
        type=minutes,
        metavar="MINUTES",
        help="train both for as many steps as the SapBERT-style loop takes in this time",
    )
    parser.add_argument("--learning-rate", type=float, default=2e-5, help="[%(default)s]")
    arguments = begin(parser)
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=("median", "lowest", "highest"))


def minutes(text: str) -> float:
    """RETURNS (float): A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise ArgumentTypeError(f"expected a number above 0, not '{text}'")
    return number


def measure(arguments: Namespace) -> Tables:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): The tables by title."""
    from _common.training_loops import MAX_LENGTH, Batches, OurLoop, SapBertStyle

    data = Data("ncbi", arguments.data, part="dev")
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    if not block["@architectures"].startswith("spacy-connorm.TransformerEncoder."):
        fail("The loops are compared on a transformer: give minilm or the folder of one.")
    block |= {"max_length": MAX_LENGTH}
    module, pool = start_from(block, data)
    half = half_precision(arguments.device)
    settings = {"device": arguments.device, "learning_rate": arguments.learning_rate}
    make = {
        "theirs": partial(SapBertStyle, module, **settings),
        "ours": partial(OurLoop, module, **settings),
    }
    amp = "fp16" if arguments.device.startswith("cuda") else "fp32"
    tables: Tables = {}
    with TemporaryDirectory(dir=arguments.work) as work:
        draw = partial(Batches, pool, module, micro_batch_tokens=arguments.micro_batch_tokens)
        batches = draw(size=arguments.batch, folder=Path(work, "race"))
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
        large = draw(size=arguments.objective_batch, folder=Path(work, "objectives"))
        tables["The objectives' share of a step"] = objective_rows(
            loops["ours", half], large, arguments.repeats
        )
        if arguments.accuracy is not None:
            seconds = median(by_loop["theirs", amp]) / arguments.steps
            steps = max(1, round(60 * arguments.accuracy / seconds))
            fresh = [make["theirs"](precision=amp), make["ours"](precision=half)]
            del loops
            tables["Accuracy on dev after as many steps"] = accuracy_rows(
                fresh, batches, steps, dev_score(block, data)
            )
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
    loop: "Loop", batches: "Batches", arguments: Namespace, seconds: Sequence[float]
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


def objective_rows(loop: "OurLoop", batches: "Batches", repeats: int) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The time of each objective (relations, loss and gradients of
    the vectors) and its share of the whole step.
    """
    objectives = {name: registry.losses.get(f"spacy-connorm.{name}.v1")() for name in OBJECTIVES}
    (turns,) = take_turns(
        [lambda repeat: loop.time_step(batches, repeat % len(batches), objectives)],
        repeats,
        warm_up=1,
    )
    rows = []
    for name in objectives:
        shares = [100 * turn[name] / (turn[name] + turn["rest"]) for turn in turns]
        rows.append(
            {
                "objective": name,
                "precision": loop.precision,
                "texts": round(median(map(len, batches.rows))),
                "repeats": repeats,
                "objective_ms": round(1000 * median(turn[name] for turn in turns), 1),
                "step_ms": round(1000 * median(turn[name] + turn["rest"] for turn in turns), 1),
                "share": round(median(shares), 2),
                "largest_share": round(max(shares), 2),
            }
        )
    return rows


def dev_score(block: dict[str, Any], data: Data) -> Callable[[Any], dict[str, float]]:
    """RETURNS (Callable): A module's scores on dev."""
    from spacy_connorm.training.dev_score import DevScore

    return DevScore(block, data.ontology, data.synonyms, data.mentions)


def accuracy_rows(
    loops: "Sequence[Loop]",
    batches: "Batches",
    steps: int,
    score: Callable[[Any], dict[str, float]],
) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Dev scores before training and after that of each loop."""
    import torch

    first = {"loop": "untrained", "precision": None, "steps": 0, "minutes": 0.0}
    rows = [first | score(loops[0].module)]
    for loop in loops:
        torch.manual_seed(0)
        clock = clock_of(loop.device)
        start = clock()
        for step in range(steps):
            epoch, number = divmod(step, len(batches))
            batches.begin_epoch(epoch)
            loop.step(batches, number)
        took = (clock() - start) / 60
        head = {"loop": loop.name, "precision": loop.precision, "steps": steps}
        rows.append(head | {"minutes": round(took, 1)} | score(loop.module))
    return rows


if __name__ == "__main__":
    main()
