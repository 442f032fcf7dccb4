"""How every benchmark starts, fails and reports."""

import os
import platform
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

from thinc.api import get_torch_default_device

from spacy_connorm.encoders import choose_device
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.evaluation.report import Row, to_json, to_table

# Their versions are printed: what a measurement was made with.
PACKAGES = (
    "spacy-connorm",
    "spacy",
    "thinc",
    "numpy",
    "scipy",
    "scikit-learn",
    "annoy",
    "faiss-cpu",
    "torch",
    "transformers",
    "tokenizers",
    "onnxruntime",
    "pytorch-metric-learning",
)


def make_parser(description: str) -> ArgumentParser:
    """RETURNS (ArgumentParser): With `--data`, `--work`, `--gpu-id` and `--json`."""
    parser = ArgumentParser(description=description)
    add = parser.add_argument
    add("--data", type=Path, default=Path("../shared/data"), help="the data folder [%(default)s]")
    add(
        "--work",
        type=Path,
        default=Path("/tmp/spacy_connorm_benchmarks"),
        help="keeps what takes long to make [%(default)s]",
    )
    add(
        "--gpu-id",
        type=int,
        default=-1,
        help="the GPU that encodes and trains; -1 for the CPU [%(default)s]",
    )
    add("--json", type=Path, metavar="FILE", help="write the rows to a file, too")
    return parser


def begin(parser: ArgumentParser) -> Namespace:
    """Parse the command line, choose the GPU, print what the benchmark runs on, limit the threads
    and make the work folder.

    parser (ArgumentParser): From `make_parser`.
    RETURNS (Namespace): The options.
    """
    arguments = parser.parse_args()
    with clear_errors():
        choose_device(arguments.gpu_id)
    print(describe_machine(arguments.gpu_id), file=sys.stderr)
    limit_threads()
    arguments.work.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ConnormWarning)
    return arguments


def finish(rows: Sequence[Row], path: Path | None, *, columns: Sequence[str] = ()) -> None:
    """Print rows as a Markdown table and write them to the file that `--json` names.

    rows (Sequence[Dict[str, Any]]): The measurements.
    path (Optional[Path]): The JSON file.
    columns (Sequence[str]): The columns to print; all if empty.
    """
    shown = [{key: row[key] for key in columns or row} for row in rows]
    print(to_table(shown, markdown=True))
    if path is not None:
        path.write_text(to_json(rows), encoding="utf8")


def finish_tables(
    tables: Mapping[str, Sequence[Row]], path: Path | None, *, precise: Collection[str] = ()
) -> None:
    """Print several tables as Markdown and write all rows to the file that `--json` names.

    tables (Mapping[str, Sequence[Dict[str, Any]]]): Measurements by title, at least one of each.
    path (Optional[Path]): The JSON file; each row begins with its title, as "table".
    precise (Collection[str]): Columns to print with two decimals.
    """
    for title, rows in tables.items():
        shown = [
            {
                key: f"{value:.2f}" if key in precise and value is not None else value
                for key, value in row.items()
            }
            for row in rows
        ]
        print(f"{title}:\n\n{to_table(shown, markdown=True)}\n")
    if path is not None:
        flat = [{"table": title, **row} for title, rows in tables.items() for row in rows]
        path.write_text(to_json(flat), encoding="utf8")


def fail(message: str) -> NoReturn:
    """Exit with one line and code 1."""
    print(message, file=sys.stderr)
    raise SystemExit(1)


def require_files(paths: Iterable[Path]) -> None:
    """Exit with one line and code 1 if a file of the data folder is missing."""
    for path in paths:
        if not path.is_file():
            fail(f"No data: {path} is not there. Name its folder with --data.")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Exit with one line and code 1 on an error of `spacy_connorm`."""
    try:
        yield
    except ConnormError as error:
        fail(str(error))


def thread_count() -> int:
    """RETURNS (int): The threads to compute with: OMP_NUM_THREADS, or else the cores."""
    return int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))


def chosen_gpu() -> int:
    """RETURNS (int): The GPU that `--gpu-id` chose; -1 for the CPU."""
    device = get_torch_default_device()
    return device.index if device.type == "cuda" else -1


def describe_machine(gpu_id: int) -> str:
    """RETURNS (str): Cores, threads, load, GPU and versions, in one line."""
    parts = [f"{os.cpu_count()} cores ({platform.machine()})", f"{thread_count()} threads"]
    parts.append(f"load {os.getloadavg()[0]:.1f}")
    if gpu_id >= 0:
        import torch

        parts.append(torch.cuda.get_device_name(gpu_id))
    versions = [f"{package} {_version(package)}" for package in PACKAGES]
    return f"{', '.join(parts)}; Python {platform.python_version()}, {', '.join(versions)}"


def limit_threads() -> None:
    """Give torch, if it is installed, as many threads as BLAS has."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(thread_count())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"
