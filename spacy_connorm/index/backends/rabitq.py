"""The file behind `IvfIndex`: each vector is in the list of its nearest centroid. Its difference
from that centroid is stored with one bit per component, or more if vectors are short (RaBitQ, Gao
and Long 2024).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

from ...errors import ConnormError, Errors, require_installed
from ...files.checksums import damaged
from ..vectors.base import Vectors
from .allowed_items import AllowedItems
from .list_fit import ListFit
from .protocol import Earlier
from .rabitq_filling import add_items, copy_items
from .rabitq_parts import parts_fit

# k-means: more samples or iterations take longer and hardly improve the lists.
_SAMPLE_OF_A_LIST = 16
_LEAST_SAMPLE = 4096
_ITERATIONS = 6
# The least bits per vector, since shorter codes rank badly, and the most bits per component.
_BITS_OF_A_CODE = 384
_MOST_BITS = 8
# Nearest centroids are found by four-bit codes for this many components each, then compared
# exactly. The depth is how many times more are compared than wanted: one when vectors are assigned
# to lists, `probes` in a search.
_COMPONENTS_OF_A_CODE = (4, 3, 2, 1)
_BUILDING_DEPTH = 16
_SEARCHING_DEPTH = 2
# Queries are rounded to this many bits; more hardly change the ranking.
_QUERY_BITS = 4
# Fewer queries are searched with one thread: several would busily wait for each other longer than
# the search takes.
_MANY_QUERIES = 64
# OpenMP stores the number of threads per thread.
_HERE = local()


class RabitqLists:
    """Proposes the nearest vectors, by their codes."""

    def __init__(self, index: Any, path: Path | None = None) -> None:
        """Wrap an index.

        index (faiss.IndexIVFRaBitQ): The index.
        path (Optional[Path]): The file that it is mapped from.
        """
        self._index = index
        self._path = path
        self.lists = int(index.nlist)

    @classmethod
    def build(cls, vectors: Vectors, *, lists: int, seed: int) -> tuple["RabitqLists", ListFit]:
        """Learn centroids from a sample, then read all vectors once.

        vectors (DenseVectors): The items, one per row.
        lists (int): The number of lists, at most one per vector.
        seed (int): The seed of the sample and of k-means.
        RETURNS (Tuple[RabitqLists, ListFit]): The lists, and how well they fit.
        RAISES (ConnormError): CN126 without faiss.
        """
        faiss = load_faiss()
        index = _train(_sample(vectors, lists, seed), lists, seed)
        count, total = add_items(faiss, index, vectors, np.arange(len(vectors)))
        faiss.downcast_index(index.quantizer).k_factor = _SEARCHING_DEPTH
        distance, imbalance = total / max(count, 1), _imbalance(index)
        return cls(index), ListFit(lists, seed, distance, imbalance, distance, imbalance)

    @classmethod
    def update(
        cls, earlier: Earlier, vectors: Vectors, fit: ListFit
    ) -> tuple["RabitqLists", ListFit]:
        """Keep the centroids of an earlier file, and the codes of vectors that it has. Only new
        vectors are read.

        earlier (Earlier): What `write` wrote, and which of its items are still there.
        vectors (DenseVectors): The items, one per row.
        fit (ListFit): How well the earlier lists fitted.
        RETURNS (Tuple[RabitqLists, ListFit]): The lists, and how well they fit now.
        RAISES (ConnormError): As in `open`.
        """
        faiss = load_faiss()
        # Opened twice: one gets other lists, which are copied from those of the other one.
        old = cls.open(earlier.path, rows=earlier.size, width=vectors.width)._index
        index = cls.open(earlier.path, rows=earlier.size, width=vectors.width)._index
        copied = copy_items(faiss, old, index, earlier.items)
        quantizer = faiss.downcast_index(index.quantizer)
        quantizer.k_factor = _BUILDING_DEPTH
        count, total = add_items(faiss, index, vectors, np.flatnonzero(~copied))
        quantizer.k_factor = _SEARCHING_DEPTH
        kept = int(np.count_nonzero(copied))
        distance = (kept * fit.distance + total) / max(kept + count, 1)
        return cls(index), replace(fit, distance=distance, imbalance=_imbalance(index))

    @classmethod
    def open(cls, path: Path, *, rows: int, width: int) -> "RabitqLists":
        """Map the file into memory.

        path (Path): The file that `write` wrote.
        rows (int): The number of vectors that it was built from.
        width (int): Their width.
        RETURNS (RabitqLists): The lists.
        RAISES (ConnormError): CN126 without faiss, CN416 if it does not belong to these vectors.
        """
        faiss = load_faiss()
        flag = faiss.IO_FLAG_MMAP_IFC if _maps_whole_files() else faiss.IO_FLAG_MMAP
        try:
            index = faiss.read_index(str(path), flag)
        except (RuntimeError, MemoryError) as error:
            reason = f"{error}".partition("\n")[0] or "it is too large"
            raise ConnormError(Errors.CN416.format(path=path, reason=reason)) from error
        if not parts_fit(faiss, index, rows=rows, width=width):
            reason = f"it is not of {rows} vectors of {width} components"
            raise ConnormError(Errors.CN416.format(path=path, reason=reason))
        # As `build` sets it; a file can have any.
        faiss.downcast_index(index.quantizer).k_factor = _SEARCHING_DEPTH
        if not _maps_whole_files():
            # Starting threads to read ahead would take longer than a search.
            faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
        return cls(index, path)

    def write(self, path: Path) -> None:
        """Write the file.

        path (Path): The file to write.
        RAISES (OSError): If the disk is full or refuses the file.
        """
        try:
            load_faiss().write_index(self._index, str(path))
        except RuntimeError as error:
            raise OSError(str(error).splitlines()[0]) from error

    def verify(self, vectors: Vectors, path: Path) -> None:
        """Check that the lists hold every vector once. faiss leaves out zero vectors.

        vectors (DenseVectors): The items.
        path (Path): Their file.
        RAISES (ConnormError): CN402.
        """
        faiss = load_faiss()
        lists = faiss.downcast_InvertedLists(self._index.invlists)
        sizes = {each: lists.list_size(each) for each in range(self.lists)}
        held = [
            faiss.rev_swig_ptr(lists.get_ids(each), size).copy()
            for each, size in sizes.items()
            if size
        ]
        items = np.sort(np.concatenate([np.empty(0, dtype="int64"), *held]))
        is_sound = (
            np.array_equal(items, np.unique(items))
            and np.isin(np.flatnonzero(vectors.norms), items).all()
            and np.isin(items, np.arange(len(vectors))).all()
        )
        if not is_sound:
            raise damaged(path, "its lists do not hold every vector once")

    def propose(
        self, queries: np.ndarray, count: int, *, probes: int, allowed: AllowedItems | None
    ) -> np.ndarray:
        """Search the lists nearest to each query.

        queries (Floats2d): float32 (b, width) unit vectors.
        count (int): Items to propose per query.
        probes (int): Lists to read per query.
        allowed (Optional[AllowedItems]): The items that may be proposed; all if None.
        RETURNS (Ints2d): int64 (b, count) items, -1 if the lists have fewer.
        RAISES (ConnormError): CN416 if the lists hold what is no item.
        """
        faiss = load_faiss()
        settings = faiss.IVFRaBitQSearchParameters(nprobe=probes, qb=_QUERY_BITS)
        if allowed is not None:
            settings.sel = faiss.IDSelectorBitmap(allowed.bits)
        asked = np.ascontiguousarray(queries, dtype="float32")
        with _threads_for(len(asked)):
            items = self._index.search(asked, count, params=settings)[1]
        if items.size and items.max() >= self._index.ntotal:
            reason = "its lists hold what is no vector"
            raise ConnormError(Errors.CN416.format(path=self._path, reason=reason))
        return items


@contextmanager
def _threads_for(queries: int) -> Iterator[None]:
    faiss = load_faiss()
    threads = faiss.omp_get_max_threads()
    if queries < _MANY_QUERIES:
        faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def _imbalance(index: Any) -> float:
    return float(load_faiss().downcast_InvertedLists(index.invlists).imbalance_factor())


def _maps_whole_files() -> bool:
    # On macOS, faiss maps only the lists.
    return sys.platform != "darwin"


def _bits(width: int) -> int:
    return min(ceil(_BITS_OF_A_CODE / width), _MOST_BITS)


def _sample(vectors: Vectors, lists: int, seed: int) -> np.ndarray:
    count = min(max(lists * _SAMPLE_OF_A_LIST, _LEAST_SAMPLE), len(vectors))
    rows = np.random.default_rng(seed).choice(len(vectors), count, replace=False)
    sample = vectors.queries(np.sort(rows))
    # A zero vector has no nearest centroid, and k-means would abort the process.
    sample[~sample.any(axis=1), 0] = 1
    return sample


def _train(sample: np.ndarray, lists: int, seed: int) -> Any:
    """RETURNS (faiss.IndexIVFRaBitQ): Empty lists, with centroids from spherical k-means."""
    faiss = load_faiss()
    width = sample.shape[1]
    quantizer = _quantizer(sample)
    clustering = faiss.Clustering(width, lists)
    clustering.seed, clustering.niter, clustering.spherical = seed, _ITERATIONS, True
    clustering.min_points_per_centroid, clustering.max_points_per_centroid = 1, len(sample)
    clustering.train(sample, quantizer)
    metric, bits = faiss.METRIC_INNER_PRODUCT, _bits(width)
    index = faiss.IndexIVFRaBitQ(quantizer, width, lists, metric, True, bits)
    index.train(sample[:_LEAST_SAMPLE])
    return index


def _quantizer(sample: np.ndarray) -> Any:
    """RETURNS (faiss.IndexRefineFlat): Finds nearest centroids without comparing with all."""
    faiss = load_faiss()
    width = sample.shape[1]
    parts = next(width // size for size in _COMPONENTS_OF_A_CODE if width % size == 0)
    codes = faiss.IndexPQFastScan(width, parts, 4, faiss.METRIC_INNER_PRODUCT)
    codes.pq.cp.min_points_per_centroid = 1
    codes.train(sample[:: max(len(sample) // _LEAST_SAMPLE, 1)])
    quantizer = faiss.IndexRefineFlat(codes)
    quantizer.k_factor = _BUILDING_DEPTH
    return quantizer


def load_faiss() -> Any:
    """Import faiss, and limit it to one thread in the calling thread unless OMP_NUM_THREADS is set.

    RETURNS (module): faiss.
    RAISES (ConnormError): CN126 if it is not installed.
    """
    faiss = _import_faiss()
    if "OMP_NUM_THREADS" not in os.environ and not hasattr(_HERE, "is_limited"):
        faiss.omp_set_num_threads(1)
        _HERE.is_limited = True
    return faiss


@cache
def _import_faiss() -> Any:
    require_installed(
        "IvfIndex",
        "faiss",
        "faiss",
        instead=', or use `index = {"@misc": "spacy-connorm.AnnoyIndex.v1"}`',
    )
    import faiss

    if hasattr(os, "register_at_fork"):
        # Its thread pool does not survive a fork: a worker that used it would hang.
        os.register_at_fork(after_in_child=lambda: faiss.omp_set_num_threads(1))
    return faiss
