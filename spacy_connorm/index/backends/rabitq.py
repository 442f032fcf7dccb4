"""The file behind `IvfIndex`: vectors in lists by the centroid that they are nearest to, each as
one bit a component, or more of short vectors, of how it differs from that centroid (RaBitQ, Gao and
Long 2024).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

from ...errors import ConnormError, Errors
from ..vectors.base import Vectors
from .rescoring import blocks

# k-means: more of either takes longer and finds hardly better lists.
_SAMPLE_OF_A_LIST = 16
_LEAST_SAMPLE = 4096
_ITERATIONS = 6
# Bits of a vector, as codes of few bits order badly, and most bits of a component.
_BITS_OF_A_CODE = 384
_MOST_BITS = 8
# Centroids are found by codes of four bits for so many components, and compared exactly with so
# many times those wanted: one nearest, when vectors are put in lists, or as many as are probed.
_COMPONENTS_OF_A_CODE = (4, 3, 2, 1)
_BUILDING_DEPTH = 16
_SEARCHING_DEPTH = 2
# A query is rounded to so many bits; more change hardly any order.
_QUERY_BITS = 4
# Fewer queries are searched with one thread: several would wait for each other, and busily, longer
# than the search takes.
_MANY_QUERIES = 64
# OpenMP keeps the number of threads for each thread of its own.
_HERE = local()


class RabitqLists:
    """Proposes the vectors that are nearest by their codes."""

    def __init__(self, index: Any) -> None:
        """Wrap an index.

        index (faiss.IndexIVFRaBitQ): The index.
        """
        self._index = index
        self.lists = int(index.nlist)

    @classmethod
    def build(cls, vectors: Vectors, *, lists: int, seed: int) -> "RabitqLists":
        """Learn centroids from a sample, then read all vectors once.

        vectors (DenseVectors): The items, one a row.
        lists (int): How many lists, at most as many as vectors.
        seed (int): Of the sample and of k-means.
        RETURNS (RabitqLists): The lists.
        RAISES (ConnormError): CN417 without faiss.
        """
        index = _train(_sample(vectors, lists, seed), lists, seed)
        quantizer = load_faiss().downcast_index(index.quantizer)
        for block in blocks(vectors):
            index.add(block)
        quantizer.k_factor = _SEARCHING_DEPTH
        return cls(index)

    @classmethod
    def open(cls, path: Path, vectors: Vectors) -> "RabitqLists":
        """Map the file.

        path (Path): What `write` wrote.
        vectors (DenseVectors): The items that it was built of.
        RETURNS (RabitqLists): The lists.
        RAISES (ConnormError): CN417 without faiss, CN416 if it is not the file of these vectors.
        """
        faiss = load_faiss()
        flag = faiss.IO_FLAG_MMAP_IFC if _maps_whole_files() else faiss.IO_FLAG_MMAP
        try:
            index = faiss.read_index(str(path), flag)
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise ConnormError(Errors.CN416.format(path=path, reason=reason)) from error
        found, expected = (index.ntotal, index.d), (len(vectors), vectors.width)
        if not isinstance(index, faiss.IndexIVFRaBitQ) or found != expected:
            reason = f"it is not of {expected[0]} vectors of {expected[1]} components"
            raise ConnormError(Errors.CN416.format(path=path, reason=reason))
        if not _maps_whole_files():
            # Threads that read ahead would take longer than a search.
            faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
        return cls(index)

    def write(self, path: Path) -> None:
        """Write the file.

        RAISES (OSError): If the disk is full or refuses it.
        """
        try:
            load_faiss().write_index(self._index, str(path))
        except RuntimeError as error:
            raise OSError(str(error).splitlines()[0]) from error

    def propose(
        self, queries: np.ndarray, count: int, *, probes: int, allowed: np.ndarray | None
    ) -> np.ndarray:
        """Read the lists that are nearest to each query.

        queries (Floats2d): float32 (b, width) unit vectors.
        count (int): Items wanted for each.
        probes (int): Lists read for each.
        allowed (Optional[np.ndarray]): bool (items,): the items that may be proposed.
        RETURNS (Ints2d): int64 (b, count) items, -1 where the lists hold fewer.
        """
        faiss = load_faiss()
        settings = faiss.IVFRaBitQSearchParameters(nprobe=probes, qb=_QUERY_BITS)
        if allowed is not None:
            settings.sel = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        asked = np.ascontiguousarray(queries, dtype="float32")
        with _threads_for(len(asked)):
            return self._index.search(asked, count, params=settings)[1]


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


def _maps_whole_files() -> bool:
    # On this system faiss maps the lists alone.
    return sys.platform != "darwin"


def _bits(width: int) -> int:
    return min(ceil(_BITS_OF_A_CODE / width), _MOST_BITS)


def _sample(vectors: Vectors, lists: int, seed: int) -> np.ndarray:
    count = min(max(lists * _SAMPLE_OF_A_LIST, _LEAST_SAMPLE), len(vectors))
    rows = np.random.default_rng(seed).choice(len(vectors), count, replace=False)
    sample = vectors.queries(np.sort(rows))
    # To a vector of length zero no centroid is nearest, and k-means ends the process over that.
    sample[~sample.any(axis=1), 0] = 1
    return sample


def _train(sample: np.ndarray, lists: int, seed: int) -> Any:
    """k-means on the sphere: lists by cosine. They are still empty."""
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
    """Finds the centroids nearest to a vector without comparing it with each."""
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
    """RETURNS (module): faiss, with one thread in the thread that asks, unless OMP_NUM_THREADS says
        more.
    RAISES (ConnormError): CN417 without it.
    """
    faiss = _import_faiss()
    if "OMP_NUM_THREADS" not in os.environ and not hasattr(_HERE, "is_limited"):
        faiss.omp_set_num_threads(1)
        _HERE.is_limited = True
    return faiss


@cache
def _import_faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ConnormError(Errors.CN417.format()) from error
    if hasattr(os, "register_at_fork"):
        # Its thread pool does not live through a fork: a worker that used it would wait for ever.
        os.register_at_fork(after_in_child=lambda: faiss.omp_set_num_threads(1))
    return faiss
