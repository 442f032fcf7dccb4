"""The vectors of an index, dense, sparse or both: made from what an encoder returns, joined, and
opened from disk, memory-mapped.

Rows are stored at unit length, and their norms beside them. So a cosine is a single dot product,
and means of raw vectors (concept representations) are still exact. An index that compares by inner
products multiplies by the norms again (`scaled`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...encoders.raw import HybridArray, Raw, stack
from ...encoders.storage import DTYPES
from ...files.arrays import open_array
from ...files.folders import damaged
from ..search import COSINE
from .dense import DenseVectors
from .hybrid import HybridVectors
from .sparse import SparseVectors

# Unit vectors, one per row, or scaled ones, whose scores are inner products: see `scaled`.
Vectors: TypeAlias = DenseVectors | SparseVectors | HybridVectors


def from_raw(raw: Raw, *, dtype: str = "float32", metric: str = COSINE) -> Vectors:
    """Normalize the output of an encoder.

    raw (Union[Floats2d, csr_matrix, HybridArray]): (n, width) vectors of any length.
    dtype (str): "float32" or "int8", for dense vectors.
    metric (str): What to compare them by; see `scaled`.
    RETURNS (Vectors): The vectors at unit length, or `scaled` for inner products.
    """
    vectors: Vectors
    if isinstance(raw, HybridArray):
        dense = DenseVectors.from_raw(raw.dense, dtype)
        vectors = HybridVectors(dense, SparseVectors.from_raw(raw.lexical), weight=raw.weight)
    elif isinstance(raw, np.ndarray):
        vectors = DenseVectors.from_raw(raw, dtype)
    else:
        vectors = SparseVectors.from_raw(raw)
    return vectors if metric == COSINE else scaled(vectors, metric)


def join(parts: Sequence[Any]) -> Vectors:
    """Concatenate vectors of the same kind.

    parts (Sequence[Vectors]): At least one.
    RETURNS (Vectors): The rows of all parts.
    """
    if isinstance(parts[0], HybridVectors):
        dense: Any = join([part.dense for part in parts])
        lexical: Any = join([part.lexical for part in parts])
        return HybridVectors(dense, lexical)
    if isinstance(parts[0], DenseVectors):
        columns = zip(*(part.arrays.values() for part in parts), strict=True)
        return DenseVectors(*map(np.concatenate, columns))
    unit = stack(part.unit for part in parts)
    return SparseVectors(unit, np.concatenate([part.norms for part in parts]))


def open_vectors(folder: Path, stem: str) -> Vectors:
    """Open vectors, memory-mapped.

    folder (Path): The folder of their files.
    stem (str): The beginning of the file names.
    RETURNS (Vectors): The vectors.
    RAISES (ConnormError): CN402 if the files do not fit together.
    """
    if (folder / f"{stem}.dense.norms.npy").exists():
        dense: Any = open_vectors(folder, f"{stem}.dense")
        lexical: Any = open_vectors(folder, f"{stem}.lexical")
        if len(dense) != len(lexical):
            reason = f"it has {len(lexical)} rows, not {len(dense)}"
            raise damaged(folder / f"{stem}.lexical.norms.npy", reason)
        return HybridVectors(dense, lexical)
    norms = open_array(folder / f"{stem}.norms.npy", "float32", (None,), finite=True)
    rows = len(norms)
    if (folder / f"{stem}.rows.npy").exists():
        matrix = open_array(folder / f"{stem}.rows.npy", DTYPES, (rows, None))
        steps = open_array(folder / f"{stem}.steps.npy", "float32", (rows,), finite=True)
        return DenseVectors(matrix, steps, norms)
    return SparseVectors.open(folder, stem, norms)


def mean_vectors(vectors: Vectors, bounds: np.ndarray) -> Raw:
    """Average raw vectors, with the lengths that the encoder gave them, in groups of rows that
    follow each other.

    vectors (Vectors): Stored vectors, not `scaled` ones.
    bounds (Ints1d): int64 (m + 1,): the rows of group i are bounds[i] to bounds[i + 1].
    RETURNS (Raw): float32 (m, width): zeros for a group without rows.
    """
    if isinstance(vectors, HybridVectors):
        dense, lexical = vectors.dense, vectors.lexical
        return HybridArray(mean_vectors(dense, bounds), mean_vectors(lexical, bounds))
    from scipy.sparse import csr_matrix

    counts = np.diff(bounds)
    shares = np.repeat((1 / np.maximum(counts, 1)).astype("float32"), counts)
    parts = (shares * vectors.norms, np.arange(len(vectors)), bounds)
    return csr_matrix(parts, shape=(len(counts), len(vectors))) @ vectors.unit


def scaled(vectors: Vectors, metric: str) -> Vectors:
    """Prepare stored vectors for comparison by a metric.

    vectors (Vectors): The stored vectors.
    metric (str): "cosine"; or "dot", where rows and queries keep their lengths. The lexical part of
        hybrid vectors is always compared by cosine: n-gram vectors have length one in BioSyn and
        BCNH.
    RETURNS (Vectors): The same vectors, scaled if needed.
    """
    if metric == COSINE:
        return vectors
    if isinstance(vectors, HybridVectors):
        dense: Any = scaled(vectors.dense, metric)
        return HybridVectors(dense, vectors.lexical, weight=vectors.weight, metric=metric)
    norms = vectors.norms
    if isinstance(vectors, DenseVectors):
        longest = float(norms.max(initial=0))
        return DenseVectors(vectors.rows, vectors.steps * norms, norms, longest=longest)
    from scipy import sparse

    scales = sparse.diags(norms, dtype="float32")
    return SparseVectors(sparse.csr_matrix(scales @ vectors.unit), norms)
