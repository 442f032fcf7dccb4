"""Check that stored vectors are unit vectors with the norms beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...encoders.vectors import HybridArray, Raw
from ...files.checksums import damaged
from .base import HybridVectors, Vectors
from .dense import QuantizedVectors
from .sparse import SparseVectors

# How many rows are read at once.
_BLOCK = 16_384
# Lengths of rows after rounding to 16 or 32 bits.
_TOLERANCE = 2e-3
_LARGEST_CODE = 127


def require_sound(is_sound: bool | np.bool_, path: Path, reason: str) -> None:
    """Refuse a damaged file.

    is_sound (bool): Whether it is not damaged.
    path (Path): The file.
    reason (str): What is wrong otherwise.
    RAISES (ConnormError): CN402.
    """
    if not is_sound:
        raise damaged(path, reason)


def verify_vectors(
    vectors: Vectors, folder: Path, stem: str, *, report: Callable[[int], Any]
) -> None:
    """Read all vectors: they must be finite and have length one, or zero if their norm is 0.

    vectors (Vectors): The vectors.
    folder (Path): The folder of their files.
    stem (str): How the names of the files start.
    report (Callable): Called with the number of rows read since its last call.
    RAISES (ConnormError): CN402 for the first file that is damaged.
    """
    if isinstance(vectors, HybridVectors):
        verify_vectors(vectors.dense, folder, f"{stem}.dense", report=report)
        verify_vectors(vectors.lexical, folder, f"{stem}.lexical", report=lambda _: None)
        return
    norms = vectors.norms
    require_sound((norms >= 0).all(), folder / f"{stem}.norms.npy", "a norm is negative")
    if isinstance(vectors, SparseVectors):
        measure, path = _sparse_lengths, folder / f"{stem}.data.npy"
    elif isinstance(vectors, QuantizedVectors):
        measure, path = _quantized_lengths, folder / f"{stem}.codes.npy"
    else:
        measure, path = _dense_lengths, folder / f"{stem}.unit.npy"
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, min(start + _BLOCK, len(vectors)))
        lengths = measure(vectors, rows, path)
        # Written so that NaN is refused.
        is_unit = (np.abs(lengths - (norms[rows] > 0)) < _TOLERANCE).all()
        require_sound(is_unit, path, "a vector does not have the length that its norm says")
        report(rows.stop - rows.start)


def distances(one: Raw, other: Raw) -> np.ndarray:
    """Compare unit vectors row by row.

    one (Raw): (n, width) vectors.
    other (Raw): As many of the same kind.
    RETURNS (Floats1d): (n,) squared Euclidean distances; of hybrid vectors those of the side that
        differs more.
    """
    if isinstance(one, HybridArray):
        sides = distances(one.dense, other.dense), distances(one.lexical, other.lexical)
        return np.maximum(*sides)
    if sparse.issparse(one):
        difference = one - other
        return np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
    return np.square(one - other, dtype="float32").sum(axis=1)


def _dense_lengths(vectors: Any, rows: slice, path: Path) -> np.ndarray:
    return np.linalg.norm(vectors.unit[rows].astype("float32", copy=False), axis=1)


def _quantized_lengths(vectors: Any, rows: slice, path: Path) -> np.ndarray:
    codes = vectors.codes[rows].astype("int32")
    lengths = np.sqrt(np.square(codes).sum(axis=1))
    are_equal = np.allclose(vectors.lengths[rows], lengths, rtol=1e-4)
    require_sound(are_equal, path, "the lengths of its vectors are others")
    largest = np.abs(codes).max(axis=1, initial=0)
    return largest / _LARGEST_CODE


def _sparse_lengths(vectors: Any, rows: slice, path: Path) -> np.ndarray:
    first, last = vectors.unit.indptr[rows.start], vectors.unit.indptr[rows.stop]
    data = vectors.unit.data[first:last].astype("float64")
    sizes = np.diff(vectors.unit.indptr[rows.start : rows.stop + 1])
    owners = np.repeat(np.arange(len(sizes)), sizes)
    return np.sqrt(np.bincount(owners, data * data, minlength=len(sizes)))


def ascends(numbers: np.ndarray, *, strictly: bool = False) -> bool:
    """RETURNS (bool): Whether each number is at least the one before, or larger."""
    return bool((numbers[1:] > numbers[:-1] if strictly else numbers[1:] >= numbers[:-1]).all())
