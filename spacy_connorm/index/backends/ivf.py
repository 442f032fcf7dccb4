"""Approximate search with an inverted file (IVF): RaBitQ codes propose candidates, exact scores
rank them.

Each vector is in the list of its nearest centroid. Its difference from this centroid is stored with
one bit per component, or more if vectors have few components (RaBitQ, Gao and Long 2024).
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
from typing import Any, ClassVar, Literal

import numpy as np

from ...encoders.raw import Raw
from ...encoders.storage import DTYPES
from ...errors import require_choice, require_installed, require_range
from ...files.folders import damaged
from ..vectors.kinds import Vectors
from ..vectors.writer import row_blocks
from .exact import ExactSearcher, open_exact, rescore, write_exact
from .protocol import AllowedItems, Earlier, Neighbours, Searcher

# For k-means: more samples or iterations take longer and hardly improve the lists.
_SAMPLE_OF_A_LIST = 16
_LEAST_SAMPLE = 4096
_ITERATIONS = 6
# The minimum of bits per vector, since shorter codes rank poorly, and the maximum per component.
_BITS_OF_A_CODE = 384
_MOST_BITS = 8
# Nearest centroids are found by four-bit codes for this many components each, then compared
# exactly. The depth is the ratio of compared to wanted centroids: one is wanted when vectors are
# assigned to lists, `probes` in a search.
_COMPONENTS_OF_A_CODE = (4, 3, 2, 1)
_BUILDING_DEPTH = 16
_SEARCHING_DEPTH = 2
# Queries are rounded to this many bits; more bits hardly change the ranking.
_QUERY_BITS = 4
# Fewer queries are searched with one thread: several would wait for each other longer than the
# search takes.
_MANY_QUERIES = 64
# OpenMP stores the number of threads per thread.
_HERE = local()


def _learn_lists(vectors: Vectors, lists: int, seed: int) -> Any:
    """Create lists of all vectors, with centroids trained on a sample."""
    index = _train(_sample(vectors, lists, seed), lists, seed)
    _add_items(index, vectors, np.arange(len(vectors)))
    return index


def _keep_lists(old: Any, vectors: Vectors, earlier: Earlier) -> Any:
    """Reuse the centroids of an earlier file, and its codes of vectors. Only new vectors are read.

    old (faiss.IndexIVFRaBitQ): The earlier lists.
    RETURNS (faiss.IndexIVFRaBitQ): The lists.
    """
    # Opened a second time: the lists of this one are replaced, copying from those of the other.
    new = _open_lists(earlier.path, rows=earlier.size, width=vectors.width)
    copied = _copy_items(old, new, earlier.items)
    _add_items(new, vectors, np.flatnonzero(~copied))
    return new


def _open_lists(path: Path, *, rows: int, width: int) -> Any:
    """Map a file of lists into memory.

    path (Path): The file written by `IvfIndex.build`.
    rows (int): The number of vectors that it was built from.
    width (int): Their width.
    RETURNS (faiss.IndexIVFRaBitQ): The lists.
    RAISES (ConnormError): CN126 without faiss, CN402 if the file does not belong to these vectors.
    """
    faiss = load_faiss()
    flag = faiss.IO_FLAG_MMAP_IFC if _maps_whole_files() else faiss.IO_FLAG_MMAP
    try:
        index = faiss.read_index(str(path), flag)
    except (RuntimeError, MemoryError) as error:
        raise damaged(path, f"{error}".partition("\n")[0] or "it is too large") from error
    if not _parts_fit(index, rows=rows, width=width):
        raise damaged(path, f"it is not for {rows} vectors of {width} components")
    # The value set by `_add_items`; a file can contain any.
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
    # On macOS, faiss maps the lists only.
    return sys.platform != "darwin"


def _sample(vectors: Vectors, lists: int, seed: int) -> np.ndarray:
    count = min(max(lists * _SAMPLE_OF_A_LIST, _LEAST_SAMPLE), len(vectors))
    rows = np.random.default_rng(seed).choice(len(vectors), count, replace=False)
    sample = vectors.queries(np.sort(rows))
    # Zero vectors have no nearest centroid, and k-means would abort the process.
    sample[~sample.any(axis=1), 0] = 1
    return sample


def _train(sample: np.ndarray, lists: int, seed: int) -> Any:
    """Train centroids by spherical k-means.

    RETURNS (faiss.IndexIVFRaBitQ): Empty lists with these centroids.
    """
    faiss = load_faiss()
    width = sample.shape[1]
    quantizer = _quantizer(sample)
    clustering = faiss.Clustering(width, lists)
    clustering.seed, clustering.niter, clustering.spherical = seed, _ITERATIONS, True
    clustering.min_points_per_centroid, clustering.max_points_per_centroid = 1, len(sample)
    clustering.train(sample, quantizer)
    metric, bits = faiss.METRIC_INNER_PRODUCT, min(ceil(_BITS_OF_A_CODE / width), _MOST_BITS)
    index = faiss.IndexIVFRaBitQ(quantizer, width, lists, metric, True, bits)
    index.train(sample[:_LEAST_SAMPLE])
    return index


def _quantizer(sample: np.ndarray) -> Any:
    """Create a quantizer that finds nearest centroids without comparing with all."""
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

    RETURNS (module): The module `faiss`.
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
        instead=', or use `index = {"@misc": "spacy-connorm.AutoIndex.v1"}`',
    )
    import faiss

    if hasattr(os, "register_at_fork"):
        # Its thread pool does not survive a fork: a worker that used it would hang.
        os.register_at_fork(after_in_child=lambda: faiss.omp_set_num_threads(1))
    return faiss


def _add_items(index: Any, vectors: Vectors, items: np.ndarray) -> None:
    """Add vectors to the lists of their nearest centroids. Zero vectors have no nearest centroid,
    so they are in no list.

    index (faiss.IndexIVFRaBitQ): An index with centroids.
    vectors (DenseVectors): The vectors, some of which are added.
    items (Ints1d): int64 (n,): the rows to add, which are also their numbers in the lists.
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


def _ids(lists: Any, number: int) -> np.ndarray:
    """Get the items of a list that is not empty, mapped as long as the lists are open."""
    return load_faiss().rev_swig_ptr(lists.get_ids(number), lists.list_size(number))


def _copy_items(old: Any, index: Any, items: np.ndarray) -> np.ndarray:
    """Copy codes from the lists of an earlier index that has the same centroids.

    old (faiss.IndexIVFRaBitQ): The earlier index.
    index (faiss.IndexIVFRaBitQ): The index whose lists are replaced by these codes.
    items (Ints1d): int64 (n,): for each item of the new lists, its number in the old lists; -1 if
        it was not in them.
    RETURNS (np.ndarray): bool (n,): which items were in the old lists.
    """
    faiss = load_faiss()
    present = np.flatnonzero(items >= 0)
    now = np.full(old.ntotal, -1, dtype="int64")
    now[items[present]] = present
    copied = np.zeros(len(items), dtype="bool")
    source = faiss.downcast_InvertedLists(old.invlists)
    target = faiss.ArrayInvertedLists(old.nlist, old.code_size)
    for number in range(old.nlist):
        size = source.list_size(number)
        if not size:
            continue
        numbers = now[_ids(source, number)]
        codes = faiss.rev_swig_ptr(source.get_codes(number), size * old.code_size)
        places = np.flatnonzero(numbers >= 0)
        # As if the items had been added one by one.
        places = places[np.argsort(numbers[places])]
        numbers, codes = numbers[places], codes.reshape(size, -1)[places]
        target.add_entries(number, len(places), faiss.swig_ptr(numbers), faiss.swig_ptr(codes))
        copied[numbers] = True
    # From here on, the index frees its lists.
    target.this.disown()
    index.replace_invlists(target, True)
    index.ntotal = int(np.count_nonzero(copied))
    return copied


def _parts_fit(index: Any, *, rows: int, width: int) -> bool:
    """Check that a search stays inside the arrays of an index.

    index (faiss.Index): The result of `read_index`.
    rows (int): The number of vectors it was built from.
    width (int): Their width.
    RETURNS (bool): Whether it is an index as created by `_learn_lists`, of these vectors.
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
    same = {(index.d, index.ntotal, index.metric_type) for index in (quantizer, codes, exact)}
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


# Lists per square root of the number of vectors, and the maximum: the names of a concept are close
# together, so many small lists separate concepts well.
_LISTS_PER_ROOT = 16
_MOST_LISTS = 16_384
# Earlier lists are kept if their number differs by at most this share from the current ideal, that
# is, if the number of vectors differs by at most a fifth.
_OTHER_COUNT = 0.1
# faiss can't train codes on fewer vectors.
LEAST_VECTORS = 16
# One in this many lists is probed.
_SHARE_PROBED = 32
# Enough lists are probed to hold this many items per rescored one ...
_READ_FOR_A_PROPOSAL = 4
# ... unless that is more than one in this many lists: then an exact search takes no longer.
_MOST_PROBED = 2


@dataclass(frozen=True)
class IvfIndex:
    """Settings of the IVF backend (faiss), `spacy-connorm.IvfIndex.v1`.

    lists (Optional[int]): The number of inverted lists; if None, 16 times the square root of the
        number of vectors, up to 16384.
    probes (Optional[int]): Lists read per query. More probes give better recall and slower
        searches. If None, a 32nd of the lists.
    oversample (int): Proposals to rescore per requested item.
    exact_below (int): The number of vectors below which the search is exact, which is as fast.
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
        """Check the settings.

        RAISES (ConnormError): CN006 or CN118 for an invalid setting.
        """
        require_choice("dtype", self.dtype, DTYPES)
        require_range(least=1, oversample=self.oversample, lists=self.lists, probes=self.probes)
        require_range(least=LEAST_VECTORS, exact_below=self.exact_below)

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str:
        """Build the lists for dense vectors. The centroids of an earlier build are reused if it has
        about as many lists as there would be now, which means that the number of vectors has
        changed by less than a fifth. Otherwise, they are trained on a sample. Sparse and hybrid
        vectors are searched exactly.

        vectors (Vectors): The items, one per row.
        path (Path): The file that faiss writes and later maps.
        earlier (Optional[Earlier]): The earlier build, if any.
        RETURNS (str): What was built; whether earlier lists were kept, and if not, why.
        RAISES (ConnormError): CN126 without faiss, CN402 for a damaged earlier file.
        RAISES (OSError): If the disk is full or refuses the file.
        """
        if self._is_exact(vectors):
            return write_exact(vectors, path, below=self.exact_below)
        wanted = min(
            self.lists or min(_LISTS_PER_ROOT * isqrt(len(vectors)), _MOST_LISTS), len(vectors)
        )
        old, note = None, ""
        if earlier is not None and not earlier.path.exists():
            note = ", learned anew: there were none"
        elif earlier is not None:
            old = _open_lists(earlier.path, rows=earlier.size, width=vectors.width)
            if abs(old.nlist - wanted) > (0 if self.lists else _OTHER_COUNT * wanted):
                note = f", learned anew: there were {old.nlist} lists, but {wanted} are wanted"
        if earlier is None or note:
            index = _learn_lists(vectors, wanted, self.seed)
        else:
            index, note = _keep_lists(old, vectors, earlier), ", kept"
        try:
            load_faiss().write_index(index, str(path))
        except RuntimeError as error:
            raise OSError(str(error).splitlines()[0]) from error
        return f"{index.nlist:,} inverted lists{note}"

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Map the lists into memory.

        vectors (Vectors): The items in them.
        path (Path): Their file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        if self._is_exact(vectors):
            return open_exact(vectors, path)
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
        RAISES (ConnormError): CN126 without faiss, CN402 if the file does not belong to these
            vectors.
        """
        self.settings = settings
        self.vectors = vectors
        self._path = path
        self._lists = _open_lists(path, rows=len(vectors), width=vectors.width)
        self._exact = ExactSearcher(vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query. The search is exact if so many lists would have
        to be read that it takes no longer.

        queries (Floats2d): float32 (b, width), at unit length.
        n (int): The number of items.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores of approximate neighbours.
        RAISES (ConnormError): CN402 if the lists hold a number that is not an item.
        """
        possible = len(self.vectors) if allowed is None else allowed.count
        n = min(n, len(self.vectors))
        wanted = min(n, possible)
        proposals = min(wanted * self.settings.oversample, possible)
        probes = self._probes(proposals, possible)
        if probes * _MOST_PROBED > self._lists.nlist:
            return self._exact.nearest(queries, n, allowed)
        items = self._propose(queries, proposals, probes, allowed)
        neighbours = rescore(self.vectors, queries, (rows[rows >= 0] for rows in items), n)
        return self._exact.complete(neighbours, queries, wanted, allowed)

    def _propose(
        self, queries: Raw, count: int, probes: int, allowed: AllowedItems | None
    ) -> np.ndarray:
        """Read the lists nearest to each query.

        RETURNS (Ints2d): int64 (b, count) items; -1 if there are fewer.
        """
        faiss = load_faiss()
        settings = faiss.IVFRaBitQSearchParameters(nprobe=probes, qb=_QUERY_BITS)
        if allowed is not None:
            settings.sel = faiss.IDSelectorBitmap(allowed.bits)
        contiguous = np.ascontiguousarray(queries, dtype="float32")
        with _threads_for(len(contiguous)):
            items = self._lists.search(contiguous, count, params=settings)[1]
        if items.size and items.max() >= self._lists.ntotal:
            raise damaged(self._path, "its lists hold a number that is not a vector")
        return items

    def _probes(self, proposals: int, possible: int) -> int:
        """Choose the number of lists to read.

        RETURNS (int): Enough lists to hold as many allowed items as `probes` lists hold without a
            filter, and several times the number of proposals.
        """
        in_a_list = possible / self._lists.nlist
        probes = self.settings.probes or ceil(self._lists.nlist / _SHARE_PROBED)
        unfiltered = probes * len(self.vectors) / self._lists.nlist
        read = max(unfiltered, _READ_FOR_A_PROPOSAL * proposals)
        return ceil(read / in_a_list) if possible else len(self.vectors)
