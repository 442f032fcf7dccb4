"""What a measurement was made on; every benchmark prints it."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    *("spacy-connorm", "spacy", "thinc", "numpy", "scipy", "scikit-learn", "annoy", "faiss-cpu"),
    "torch",
    *("transformers", "tokenizers", "onnxruntime", "pytorch-metric-learning"),
)


def thread_count() -> int:
    """RETURNS (int): The threads to compute with: OMP_NUM_THREADS, or else the cores."""
    return int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))


def describe() -> str:
    """RETURNS (str): Cores, threads, load and versions, in one line."""
    versions = ", ".join(f"{package} {_version(package)}" for package in PACKAGES)
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {thread_count()} threads, "
        f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, {versions}"
    )


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
