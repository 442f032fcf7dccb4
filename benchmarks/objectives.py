"""What the objectives cost: relations, forward and backward, for batches of random vectors.

Each concept has two texts in a batch, one text in ten is of a second concept too. All objectives
are run in turn, so that what else the machine does falls on all of them alike.

Example: OMP_NUM_THREADS=2 python benchmarks/objectives.py --json objectives.json
"""

import statistics
import time

from _common.cli import at_least, begin, finish, make_parser

NAMES = (
    "BatchHardTriplet",
    "SemiHardTriplet",
    "MultiSimilarity",
    "SupervisedContrastive",
    "Cosine",
    "MaxMarginTriplet",
    "Nca",
    "LiftedStructure",
    "InfoNce",
    "Circle",
)


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--batch", type=at_least(20), nargs="+", default=[512, 1500], help="texts [%(default)s]"
    )
    parser.add_argument(
        "--width", type=at_least(1), nargs="+", default=[384, 768], help="[%(default)s]"
    )
    parser.add_argument("--repeats", type=at_least(1), default=7, help="of each [%(default)s]")
    parser.add_argument("--device", default="cpu", help="as torch names it [%(default)s]")
    arguments = begin(parser)
    rows = [
        row
        for batch in arguments.batch
        for width in arguments.width
        for row in compare(batch, width, repeats=arguments.repeats, device=arguments.device)
    ]
    finish(rows, arguments.json)


def compare(batch: int, width: int, *, repeats: int, device: str) -> list[dict]:
    """RETURNS (List[Dict[str, Any]]): A row an objective."""
    import torch
    from spacy import registry

    objectives = {name: registry.losses.get(f"spacy-connorm.{name}.v1")() for name in NAMES}
    torch.manual_seed(0)
    concepts = concepts_of(batch)
    centres = torch.randn(max(max(own) for own in concepts) + 1, width)
    vectors = centres[[own[0] for own in concepts]] + torch.randn(batch, width)
    vectors = vectors.to(device)
    times: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
    for repeat in range(repeats + 1):
        for name, objective in objectives.items():
            measured = measure(objective, vectors, concepts)
            if repeat:  # the first fills caches
                times[name].append(measured)
    return [summary(name, batch, width, measured) for name, measured in times.items()]


def concepts_of(batch: int) -> list[tuple[int, ...]]:
    """RETURNS (List[Tuple[int, ...]]): Mostly pairs; one text in ten has a second concept."""
    return [
        (row // 2, (row + 7) % batch // 2) if row % 10 == 0 else (row // 2,) for row in range(batch)
    ]


def measure(objective, vectors, concepts) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Milliseconds of all, of the relations alone, and of the processor
    for all: the threads' added, so less than on the clock where the machine was busy otherwise."""
    import torch

    from spacy_connorm.training.relations import relate

    vectors = vectors.clone().requires_grad_()
    wait = torch.cuda.synchronize if vectors.is_cuda else lambda: None
    wait()
    start, worked = time.perf_counter(), time.process_time()
    relations = relate(concepts, vectors.device)
    wait()
    related = time.perf_counter()
    objective(vectors, relations).backward()
    wait()
    end, done = time.perf_counter(), time.process_time()
    return {
        "all": 1000 * (end - start),
        "relations": 1000 * (related - start),
        "processor": 1000 * (done - worked),
    }


def summary(name: str, batch: int, width: int, measured: list[dict[str, float]]) -> dict:
    """RETURNS (Dict[str, Any]): The row of one objective."""
    times = [run["all"] for run in measured]
    return {
        "objective": name,
        "batch": batch,
        "width": width,
        "repeats": len(times),
        "median_ms": round(statistics.median(times), 1),
        "fastest_ms": round(min(times), 1),
        "slowest_ms": round(max(times), 1),
        "processor_ms": round(statistics.median(run["processor"] for run in measured), 1),
        "relations_ms": round(statistics.median(run["relations"] for run in measured), 1),
    }


if __name__ == "__main__":
    main()
