"""Check that stored vectors are unit vectors with the norms beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...encoders.vectors import Raw
from ...files.checksums import damaged
from .base import HybridVectors, Vectors
from .dense import QuantizedVectors
from .sparse import SparseVectors

# How many rows are read at once.
_BLOCK = 16_384
# How much the length of a row may differ from one.
_ROUNDED = {"float16": 2e-3, "float32": 2e-5}
# Squared distances of vectors of the same text. Dense ones may be rounded to eight bits, or encoded
# by another processor.
_SAME_DENSE, _SAME_SPARSE = 2e-3, 1e-8
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
    norms, tolerance = vectors.norms, _ROUNDED["float32"]
    require_sound((norms >= 0).all(), folder / f"{stem}.norms.npy", "a norm is negative")
    if isinstance(vectors, SparseVectors):
        measure, path = _sparse_lengths, folder / f"{stem}.data.npy"
    elif isinstance(vectors, QuantizedVectors):
        measure, path = _quantized_lengths, folder / f"{stem}.codes.npy"
    else:
        measure, path = _dense_lengths, folder / f"{stem}.unit.npy"
        tolerance = _ROUNDED[str(vectors.unit.dtype)]
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, min(start + _BLOCK, len(vectors)))
        lengths = measure(vectors, rows, path)
        # Written so that NaN is refused.
        is_unit = (np.abs(lengths - (norms[rows] > 0)) < tolerance).all()
        require_sound(is_unit, path, "a vector does not have the length that its norm says")
        report(rows.stop - rows.start)


def are_same(one: Vectors, other: Vectors) -> bool:
    """Compare vectors row by row.

    one (Vectors): n vectors.
    other (Vectors): As many of the same kind, maybe more or less precise.
    RETURNS (bool): Whether they could be vectors of the same texts.
    """
    if len(one) != len(other) or one.widths != other.widths:
        return False
    if isinstance(one, HybridVectors) and isinstance(other, HybridVectors):
        return are_same(one.dense, other.dense) and are_same(one.lexical, other.lexical)
    rows = np.arange(len(one))
    distances = _distances(one.queries(rows), other.queries(rows))
    are_as_long = np.allclose(one.norms, other.norms, rtol=2e-2, atol=1e-5)
    largest = _SAME_SPARSE if isinstance(one, SparseVectors) else _SAME_DENSE
    return are_as_long and bool((distances < largest).all())


def _distances(one: Raw, other: Raw) -> np.ndarray:
    difference = one - other
    if sparse.issparse(one):
        return np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
    return np.square(difference, dtype="float32").sum(axis=1)


def _dense_lengths(vectors: Any, rows: slice, path: Path) -> np.ndarray:
    return np.linalg.norm(vectors.unit[rows].astype("float32", copy=False), axis=1)


def _quantized_lengths(vectors: Any, rows: slice, path: Path) -> np.ndarray:
    codes = vectors.codes[rows].astype("int32")
    lengths = np.sqrt(np.square(codes).sum(axis=1))
    are_equal = np.array_equal(vectors.lengths[rows], lengths.astype("float32"))
    require_sound(are_equal, path, "the lengths of its vectors are others")
    largest = np.abs(codes).max(axis=1, initial=0)
    return largest / _LARGEST_CODE


def _sparse_lengths(vectors: Any, rows: slice, path: Path) -> np.ndarray:
    first, last = vectors.unit.indptr[rows.start], vectors.unit.indptr[rows.stop]
    data = vectors.unit.data[first:last].astype("float64")
    sizes = np.diff(vectors.unit.indptr[rows.start : rows.stop + 1])
    owners = np.repeat(np.arange(len(sizes)), sizes)
    return np.sqrt(np.bincount(owners, data * data, minlength=len(sizes)))
