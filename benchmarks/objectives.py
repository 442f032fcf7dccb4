"""What each objective costs: relations, forward and backward pass on batches of random vectors.

Each concept has two texts in a batch, and one text in ten belongs to a second concept, too. The
objectives take turns.

Example: OMP_NUM_THREADS=2 python benchmarks/objectives.py --json objectives.json
"""

from collections.abc import Sequence
from functools import partial
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from _common.cli import begin, finish, make_parser
from _common.options import at_least
from _measure.interleaved import spread, take_turns
from _measure.stopwatch import clock_of

from spacy_connorm.evaluation.report import Row

if TYPE_CHECKING:
    import torch

NAMES = (
    "BatchHardTriplet",
    "SemiHardTriplet",
    "MultiSimilarity",
    "SupervisedContrastive",
    "FamilyContrastive",
    "Cosine",
    "MaxMarginTriplet",
    "Nca",
    "LiftedStructure",
    "InfoNce",
    "Circle",
)


class Milliseconds(NamedTuple):
    """How long one pass took.

    all (float): Relations, loss and gradients, by the clock.
    relations (float): The relations alone, by the clock.
    processor (float): Processor time of all threads. Where the machine is busy, it is less than by
        the clock.
    """

    all: float
    relations: float
    processor: float


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--batch", type=at_least(20), nargs="+", default=[512, 1500], help="texts [%(default)s]"
    )
    parser.add_argument(
        "--width", type=at_least(1), nargs="+", default=[384, 768], help="[%(default)s]"
    )
    parser.add_argument("--repeats", type=at_least(1), default=7, help="of each [%(default)s]")
    parser.add_argument("--device", default="cpu", help="a torch device [%(default)s]")
    arguments = begin(parser)
    rows = [
        row
        for batch in arguments.batch
        for width in arguments.width
        for row in compare(batch, width, repeats=arguments.repeats, device=arguments.device)
    ]
    finish(rows, arguments.json)


def compare(batch: int, width: int, *, repeats: int, device: str) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row an objective."""
    import torch
    from spacy import registry

    torch.manual_seed(0)
    concepts = concepts_of(batch)
    centres = torch.randn(max(max(own) for own in concepts) + 1, width)
    vectors = centres[[own[0] for own in concepts]] + torch.randn(batch, width)
    vectors = vectors.to(device)
    objectives = [registry.losses.get(f"spacy-connorm.{name}.v1")() for name in NAMES]
    turns = take_turns(
        [partial(measure, objective, vectors, concepts) for objective in objectives],
        repeats,
        warm_up=1,
    )
    return [summary(name, batch, width, own) for name, own in zip(NAMES, turns, strict=True)]


def concepts_of(batch: int) -> list[tuple[int, ...]]:
    """RETURNS (List[Tuple[int, ...]]): Mostly pairs; one text in ten has a second concept."""
    return [
        (row // 2, (row + 7) % batch // 2) if row % 10 == 0 else (row // 2,) for row in range(batch)
    ]


def measure(
    objective: Any, vectors: "torch.Tensor", concepts: Sequence[tuple[int, ...]], repeat: int
) -> Milliseconds:
    """RETURNS (Milliseconds): How long one pass takes."""
    from spacy_connorm.training.relations import relate

    vectors = vectors.clone().requires_grad_()
    clock = clock_of(str(vectors.device))
    start, worked = clock(), process_time()
    relations = relate(concepts, vectors.device)
    related = clock()
    objective(vectors, relations).backward()
    end, done = clock(), process_time()
    return Milliseconds(1000 * (end - start), 1000 * (related - start), 1000 * (done - worked))


def summary(name: str, batch: int, width: int, turns: Sequence[Milliseconds]) -> Row:
    """RETURNS (Dict[str, Any]): The row of one objective."""
    times = spread([turn.all for turn in turns]).rounded(1)
    return {
        "objective": name,
        "batch": batch,
        "width": width,
        "repeats": len(turns),
        "median_ms": times.median,
        "fastest_ms": times.lowest,
        "slowest_ms": times.highest,
        "processor_ms": round(median(turn.processor for turn in turns), 1),
        "relations_ms": round(median(turn.relations for turn in turns), 1),
    }


if __name__ == "__main__":
    main()
