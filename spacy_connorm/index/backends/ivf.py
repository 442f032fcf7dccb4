"""Approximate search with an inverted file (IVF): RaBitQ codes propose, exact scores decide.

Each vector is in the list of its nearest centroid. Its difference from that centroid is stored with
one bit per component, or more if vectors are short (RaBitQ, Gao and Long 2024).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import ceil, isqrt
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...encoders.protocol import Raw
from ...encoders.storage import DTYPES
from ...errors import ConnormError, Errors, refuse, require_choice, require_installed
from ...files.folders import damaged
from ..vectors import Vectors, row_blocks
from .exact import (
    AllowedItems,
    Earlier,
    ExactSearcher,
    Neighbours,
    require_positive_settings,
    rescore,
)

if TYPE_CHECKING:
    from .exact import Searcher

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
    def build(cls, vectors: Vectors, *, lists: int, seed: int) -> "RabitqLists":
        """Learn centroids from a sample, then read all vectors once.

        vectors (DenseVectors): The items, one per row.
        lists (int): The number of lists, at most one per vector.
        seed (int): The seed of the sample and of k-means.
        RETURNS (RabitqLists): The lists.
        RAISES (ConnormError): CN126 without faiss.
        """
        index = _train(_sample(vectors, lists, seed), lists, seed)
        _add_items(index, vectors, np.arange(len(vectors)))
        return cls(index)

    @classmethod
    def update(cls, earlier: Earlier, vectors: Vectors) -> "RabitqLists":
        """Keep the centroids of an earlier file, and the codes of vectors that it has. Only new
        vectors are read.

        earlier (Earlier): What `write` wrote, and which of its items are still there.
        vectors (DenseVectors): The items, one per row.
        RETURNS (RabitqLists): The lists.
        RAISES (ConnormError): As in `open`.
        """
        # Opened twice: one gets other lists, which are copied from those of the other one.
        old, new = (
            cls.open(earlier.path, rows=earlier.size, width=vectors.width)._index for _ in range(2)
        )
        copied = _copy_items(old, new, earlier.items)
        _add_items(new, vectors, np.flatnonzero(~copied))
        return cls(new)

    @classmethod
    def open(cls, path: Path, *, rows: int, width: int) -> "RabitqLists":
        """Map the file into memory.

        path (Path): The file that `write` wrote.
        rows (int): The number of vectors that it was built from.
        width (int): Their width.
        RETURNS (RabitqLists): The lists.
        RAISES (ConnormError): CN126 without faiss, CN403 if it does not belong to these vectors.
        """
        faiss = load_faiss()
        flag = faiss.IO_FLAG_MMAP_IFC if _maps_whole_files() else faiss.IO_FLAG_MMAP
        try:
            index = faiss.read_index(str(path), flag)
        except (RuntimeError, MemoryError) as error:
            reason = f"{error}".partition("\n")[0] or "it is too large"
            raise ConnormError(Errors.CN403.format(path=path, reason=reason)) from error
        if not _parts_fit(index, rows=rows, width=width):
            reason = f"it is not of {rows} vectors of {width} components"
            raise ConnormError(Errors.CN403.format(path=path, reason=reason))
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
        RAISES (ConnormError): CN403 if the lists hold what is no item.
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
            raise ConnormError(Errors.CN403.format(path=self._path, reason=reason))
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


def _add_items(index: Any, vectors: Vectors, items: np.ndarray) -> None:
    """Add vectors to the lists of their nearest centroids. Zero vectors have no nearest: they are
    in no list.

    index (faiss.IndexIVFRaBitQ): Has centroids.
    vectors (DenseVectors): The vectors, of which some are added.
    items (Ints1d): int64 (n,): these rows, which are also their numbers in the lists.
    """
    faiss = load_faiss()
    quantizer = faiss.downcast_index(index.quantizer)
    quantizer.k_factor = _BUILDING_DEPTH
    for rows in row_blocks(items):
        block = np.ascontiguousarray(vectors.queries(rows))
        lists = np.ascontiguousarray(quantizer.search(block, 1)[1][:, 0])
        numbers = np.ascontiguousarray(rows)
        index.add_core(len(rows), *map(faiss.swig_ptr, (block, numbers, lists)))
    quantizer.k_factor = _SEARCHING_DEPTH


def _copy_items(old: Any, index: Any, items: np.ndarray) -> np.ndarray:
    """Copy codes from the lists of an earlier index that has the same centroids.

    old (faiss.IndexIVFRaBitQ): The earlier index.
    index (faiss.IndexIVFRaBitQ): Gets new lists with these codes, and no others.
    items (Ints1d): int64 (n,): for each item of the new lists, which one it was in the old ones; -1
        for one that was not.
    RETURNS (np.ndarray): bool (n,): which items the old lists had.
    """
    faiss = load_faiss()
    present = np.flatnonzero(items >= 0)
    now = np.full(old.ntotal, -1, dtype="int64")
    now[items[present]] = present
    copied = np.zeros(len(items), dtype="bool")
    source = faiss.downcast_InvertedLists(old.invlists)
    target = faiss.ArrayInvertedLists(old.nlist, old.code_size)
    for each in range(old.nlist):
        size = source.list_size(each)
        if not size:
            continue
        numbers = now[faiss.rev_swig_ptr(source.get_ids(each), size)]
        codes = faiss.rev_swig_ptr(source.get_codes(each), size * old.code_size)
        places = np.flatnonzero(numbers >= 0)
        # As if the items had been added one by one.
        places = places[np.argsort(numbers[places])]
        numbers, codes = numbers[places], codes.reshape(size, -1)[places]
        target.add_entries(each, len(places), faiss.swig_ptr(numbers), faiss.swig_ptr(codes))
        copied[numbers] = True
    # From here on, the index frees its lists.
    target.this.disown()
    index.replace_invlists(target, True)
    index.ntotal = int(np.count_nonzero(copied))
    return copied


def _parts_fit(index: Any, *, rows: int, width: int) -> bool:
    """Check that a search stays inside the arrays of an index.

    index (faiss.Index): What `read_index` returned.
    rows (int): The number of vectors it was built from.
    width (int): Their width.
    RETURNS (bool): Whether it is an index such as `RabitqLists.build` makes, of these vectors.
    """
    faiss = load_faiss()
    if not isinstance(index, faiss.IndexIVFRaBitQ):
        return False
    lists = faiss.downcast_InvertedLists(index.invlists)
    sizes = np.fromiter(map(lists.list_size, range(lists.nlist)), "int64", lists.nlist)
    return bool(
        (index.d, index.ntotal, index.rabitq.d) == (width, rows, width)
        and index.metric_type == index.rabitq.metric_type == faiss.METRIC_INNER_PRODUCT
        and 0 < index.nlist == lists.nlist
        and index.code_size == index.rabitq.code_size == lists.code_size
        and index.by_residual
        and index.is_trained
        and sizes.sum() <= rows
        and _quantizer_fits(faiss, index.quantizer, lists=index.nlist, width=width)
    )


def _quantizer_fits(faiss: Any, quantizer: Any, *, lists: int, width: int) -> bool:
    quantizer = faiss.downcast_index(quantizer)
    if not isinstance(quantizer, faiss.IndexRefineFlat):
        return False
    codes = faiss.downcast_index(quantizer.base_index)
    exact = faiss.downcast_index(quantizer.refine_index)
    if not isinstance(codes, faiss.IndexPQFastScan) or not isinstance(exact, faiss.IndexFlat):
        return False
    same = {(each.d, each.ntotal, each.metric_type) for each in (quantizer, codes, exact)}
    pq = codes.pq
    return bool(
        same == {(width, lists, faiss.METRIC_INNER_PRODUCT)}
        and exact.codes.size() == lists * width * 4
        and (pq.d, pq.nbits, pq.M, pq.dsub * pq.M) == (width, 4, codes.M, width)
        and pq.centroids.size() == pq.ksub * width == 16 * width
        and (codes.nbits, codes.ksub, codes.bbs) == (4, 16, 32)
        and codes.ntotal2 == _round_up(lists, codes.bbs)
        and _round_up(codes.M, 2) == codes.M2
        and codes.codes.size() == codes.ntotal2 * codes.M2 // 2
        and (codes.implem, codes.qbs) == (0, 0)
    )


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step


# Lists per square root of the number of vectors, and at most how many: the names of a concept are
# close together, so many small lists separate concepts well.
_LISTS_PER_ROOT = 16
_MOST_LISTS = 16_384
# Earlier lists are kept if their number differs by at most this share from what it would be now, so
# the number of vectors by at most a fifth.
_OTHER_COUNT = 0.1
# faiss can't learn codes from fewer vectors.
_LEAST_VECTORS = 16
# One in so many lists is probed.
_SHARE_PROBED = 32
# Enough lists are probed to hold this many items per rescored one ...
_READ_FOR_A_PROPOSAL = 4
# ... unless that is more than one in so many lists: then an exact search takes no longer.
_MOST_PROBED = 2


@dataclass(frozen=True)
class IvfIndex:
    """Settings of the IVF backend (faiss), `spacy-connorm.IvfIndex.v1`.

    lists (Optional[int]): The number of inverted lists; if None, 16 times the square root of the
        number of vectors, and at most 16384.
    probes (Optional[int]): Lists read per query. More of them: better recall, slower searches. A
        32nd of the lists if None.
    oversample (int): Proposals rescored per requested item.
    exact_below (int): Fewer vectors than this are searched exactly, which is as fast.
    seed (int): The seed of k-means; the same seed gives the same lists.
    dtype (str): How the vectors for rescoring are stored, see `ExactIndex`.
    """

    extra: ClassVar[str] = "faiss"

    lists: int | None = None
    probes: int | None = None
    oversample: int = 2
    exact_below: int = 20_000
    seed: int = 13
    dtype: Literal["float32", "int8"] = "float32"

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN006 or CN118 for an invalid setting."""
        require_choice("dtype", self.dtype, DTYPES)
        require_positive_settings(self, "oversample")
        for setting in ("lists", "probes"):
            if getattr(self, setting) is not None:
                require_positive_settings(self, setting)
        if self.exact_below < _LEAST_VECTORS:
            refuse("exact_below", self.exact_below, f"at least {_LEAST_VECTORS}")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Build the lists of dense vectors. Sparse and hybrid ones are searched exactly.

        vectors (Vectors): The items, one per row.
        path (Path): The file that faiss writes and maps later.
        """
        if "sparse" not in vectors.widths and len(vectors) >= self.exact_below:
            count = self._list_count(len(vectors))
            RabitqLists.build(vectors, lists=count, seed=self.seed).write(path)

    def update(self, vectors: Vectors, path: Path, earlier: Earlier) -> str | None:
        """Build the lists of dense vectors, with the centroids of an earlier build if it has about
        as many lists as there would be now: the number of vectors has changed by less than a
        fifth. Otherwise they are learned anew.

        vectors (Vectors): The items, one per row.
        path (Path): The file that faiss writes and maps later.
        earlier (Earlier): The earlier build.
        RETURNS (Optional[str]): Whether the lists were kept, and if not, why; None if there are no
            lists.
        """
        if "sparse" in vectors.widths or len(vectors) < self.exact_below:
            return None
        if not earlier.path.exists():
            self.build(vectors, path)
            return "learned anew: there were none"
        wanted = self._list_count(len(vectors))
        known = RabitqLists.open(earlier.path, rows=earlier.size, width=vectors.width).lists
        if abs(known - wanted) > (0 if self.lists else _OTHER_COUNT * wanted):
            self.build(vectors, path)
            return f"learned anew: there were {known} lists where {wanted} are wanted"
        RabitqLists.update(earlier, vectors).write(path)
        return "kept"

    def open(self, vectors: Vectors, path: Path) -> "Searcher":
        """Map the lists into memory.

        vectors (Vectors): The items in them.
        path (Path): Their file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        if "sparse" in vectors.widths or len(vectors) < self.exact_below:
            return ExactSearcher(vectors)
        lists = RabitqLists.open(path, rows=len(vectors), width=vectors.width)
        return IvfSearcher(self, vectors, lists)

    def _list_count(self, vectors: int) -> int:
        lists = self.lists or min(_LISTS_PER_ROOT * isqrt(vectors), _MOST_LISTS)
        return min(lists, vectors)


class IvfSearcher:
    """Searches inverted lists and rescores their proposals."""

    def __init__(self, settings: IvfIndex, vectors: Vectors, inverted: RabitqLists) -> None:
        """Combine vectors and lists.

        settings (IvfIndex): How to search them.
        vectors (DenseVectors): The items.
        inverted (RabitqLists): The lists of these items.
        """
        self.settings = settings
        self.vectors = vectors
        self._inverted = inverted
        self._exact = ExactSearcher(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query. The search is exact if so many lists would have
        to be read that it takes no longer.

        queries (Floats2d): float32 (b, width), at unit length.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores of approximate neighbours.
        """
        possible = len(self) if allowed is None else allowed.count
        n = min(n, len(self))
        wanted = min(n, possible)
        proposals = min(wanted * self.settings.oversample, possible)
        probes = self._probes(proposals, possible)
        if probes * _MOST_PROBED > self._inverted.lists:
            return self._exact.nearest(queries, n, allowed)
        items = self._inverted.propose(queries, proposals, probes=probes, allowed=allowed)
        found = rescore(self.vectors, queries, (rows[rows >= 0] for rows in items), n)
        return self._exact.complete(found, queries, wanted, allowed)

    def verify(self, path: Path) -> None:
        self._inverted.verify(self.vectors, path)

    def _probes(self, proposals: int, possible: int) -> int:
        """RETURNS (int): Enough lists to hold as many allowed items as `probes` lists hold without
        a filter, and several times the proposals.
        """
        in_a_list = possible / self._inverted.lists
        probes = self.settings.probes or ceil(self._inverted.lists / _SHARE_PROBED)
        unfiltered = probes * len(self) / self._inverted.lists
        read = max(unfiltered, _READ_FOR_A_PROPOSAL * proposals)
        return ceil(read / in_a_list) if possible else len(self)
