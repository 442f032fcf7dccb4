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
from ...files.arrays import are_among, ascends
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


def _learn_lists(vectors: Vectors, lists: int, seed: int) -> Any:
    """RETURNS (faiss.IndexIVFRaBitQ): Lists of all vectors, whose centroids are from a sample."""
    index = _train(_sample(vectors, lists, seed), lists, seed)
    _add_items(index, vectors, np.arange(len(vectors)))
    return index


def _keep_lists(old: Any, vectors: Vectors, earlier: Earlier) -> Any:
    """Keep the centroids of an earlier file, and the codes of vectors that it has. Only new vectors
    are read.

    old (faiss.IndexIVFRaBitQ): The earlier lists.
    RETURNS (faiss.IndexIVFRaBitQ): The lists.
    """
    # Opened again: this one gets other lists, which are copied from those of the other one.
    new = _open_lists(earlier.path, rows=earlier.size, width=vectors.width)
    copied = _copy_items(old, new, earlier.items)
    _add_items(new, vectors, np.flatnonzero(~copied))
    return new


def _open_lists(path: Path, *, rows: int, width: int) -> Any:
    """Map a file of lists into memory.

    path (Path): What `IvfIndex.build` wrote.
    rows (int): The number of vectors that it was built from.
    width (int): Their width.
    RETURNS (faiss.IndexIVFRaBitQ): The lists.
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
    # As `_add_items` sets it; a file can have any.
    faiss.downcast_index(index.quantizer).k_factor = _SEARCHING_DEPTH
    if not _maps_whole_files():
        # Starting threads to read ahead would take longer than a search.
        faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
    return index


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


def _ids(lists: Any, each: int) -> np.ndarray:
    """RETURNS (Ints1d): The items of a list that has any: mapped, as long as it is open."""
    return load_faiss().rev_swig_ptr(lists.get_ids(each), lists.list_size(each))


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
        numbers = now[_ids(source, each)]
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
    RETURNS (bool): Whether it is an index such as `_learn_lists` makes, of these vectors.
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

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str | None:
        """Build the lists of dense vectors, with the centroids of an earlier build if it has about
        as many lists as there would be now: the number of vectors has changed by less than a
        fifth. Otherwise they are learned from a sample. Sparse and hybrid vectors are searched
        exactly.

        vectors (Vectors): The items, one per row.
        path (Path): The file that faiss writes and maps later.
        earlier (Optional[Earlier]): The earlier build, if any.
        RETURNS (Optional[str]): Whether its lists were kept, and if not, why; None if there are no
            lists, or were none.
        RAISES (ConnormError): CN126 without faiss, CN403 for a damaged earlier file.
        RAISES (OSError): If the disk is full or refuses the file.
        """
        if self._is_exact(vectors):
            return None
        wanted = min(
            self.lists or min(_LISTS_PER_ROOT * isqrt(len(vectors)), _MOST_LISTS), len(vectors)
        )
        old, told = None, None
        if earlier is not None and not earlier.path.exists():
            told = "learned anew: there were none"
        elif earlier is not None:
            old = _open_lists(earlier.path, rows=earlier.size, width=vectors.width)
            if abs(old.nlist - wanted) > (0 if self.lists else _OTHER_COUNT * wanted):
                told = f"learned anew: there were {old.nlist} lists where {wanted} are wanted"
        if earlier is None or told is not None:
            index = _learn_lists(vectors, wanted, self.seed)
        else:
            index, told = _keep_lists(old, vectors, earlier), "kept"
        try:
            load_faiss().write_index(index, str(path))
        except RuntimeError as error:
            raise OSError(str(error).splitlines()[0]) from error
        return told

    def open(self, vectors: Vectors, path: Path) -> "Searcher":
        """Map the lists into memory.

        vectors (Vectors): The items in them.
        path (Path): Their file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        if self._is_exact(vectors):
            return ExactSearcher(vectors)
        return IvfSearcher(self, vectors, path)

    def _is_exact(self, vectors: Vectors) -> bool:
        return "sparse" in vectors.widths or len(vectors) < self.exact_below


class IvfSearcher:
    """Searches inverted lists and rescores their proposals."""

    def __init__(self, settings: IvfIndex, vectors: Vectors, path: Path) -> None:
        """Open the lists.

        settings (IvfIndex): How to search them.
        vectors (DenseVectors): The items.
        path (Path): The file with the lists of these items.
        RAISES (ConnormError): CN126 without faiss, CN403 if it does not belong to these vectors.
        """
        self.settings = settings
        self.vectors = vectors
        self._path = path
        self._lists = _open_lists(path, rows=len(vectors), width=vectors.width)
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
        RAISES (ConnormError): CN403 if the lists hold what is no item.
        """
        possible = len(self) if allowed is None else allowed.count
        n = min(n, len(self))
        wanted = min(n, possible)
        proposals = min(wanted * self.settings.oversample, possible)
        probes = self._probes(proposals, possible)
        if probes * _MOST_PROBED > self._lists.nlist:
            return self._exact.nearest(queries, n, allowed)
        items = self._propose(queries, proposals, probes, allowed)
        found = rescore(self.vectors, queries, (rows[rows >= 0] for rows in items), n)
        return self._exact.complete(found, queries, wanted, allowed)

    def _propose(
        self, queries: Raw, count: int, probes: int, allowed: AllowedItems | None
    ) -> np.ndarray:
        """RETURNS (Ints2d): int64 (b, count) items of the nearest lists, -1 if they have fewer."""
        faiss = load_faiss()
        settings = faiss.IVFRaBitQSearchParameters(nprobe=probes, qb=_QUERY_BITS)
        if allowed is not None:
            settings.sel = faiss.IDSelectorBitmap(allowed.bits)
        asked = np.ascontiguousarray(queries, dtype="float32")
        with _threads_for(len(asked)):
            items = self._lists.search(asked, count, params=settings)[1]
        if items.size and items.max() >= self._lists.ntotal:
            reason = "its lists hold what is no vector"
            raise ConnormError(Errors.CN403.format(path=self._path, reason=reason))
        return items

    def verify(self, path: Path) -> None:
        # faiss leaves out zero vectors.
        lists = load_faiss().downcast_InvertedLists(self._lists.invlists)
        held = [_ids(lists, each) for each in range(lists.nlist) if lists.list_size(each)]
        items = np.sort(np.concatenate([np.empty(0, dtype="int64"), *held]))
        is_sound = (
            ascends(items, strictly=True)
            and are_among(items, np.flatnonzero(self.vectors.norms)).all()
            and are_among(np.arange(len(self)), items).all()
        )
        if not is_sound:
            raise damaged(path, "its lists do not hold every vector once")

    def _probes(self, proposals: int, possible: int) -> int:
        """RETURNS (int): Enough lists to hold as many allowed items as `probes` lists hold without
        a filter, and several times the proposals.
        """
        in_a_list = possible / self._lists.nlist
        probes = self.settings.probes or ceil(self._lists.nlist / _SHARE_PROBED)
        unfiltered = probes * len(self) / self._lists.nlist
        read = max(unfiltered, _READ_FOR_A_PROPOSAL * proposals)
        return ceil(read / in_a_list) if possible else len(self)
