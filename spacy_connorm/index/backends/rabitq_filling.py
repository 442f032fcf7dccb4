"""Putting vectors into inverted lists: those that an earlier file has with their codes, others into
the list of their nearest centroid.
"""

from typing import Any

import numpy as np

from ..vectors.base import Vectors
from .approximate import row_blocks


def add_items(faiss: Any, index: Any, vectors: Vectors, items: np.ndarray) -> tuple[int, float]:
    """Add vectors to the lists of their nearest centroids. Zero vectors have no nearest: they are
    in no list.

    faiss (module): The library.
    index (faiss.IndexIVFRaBitQ): Has centroids.
    vectors (DenseVectors): The vectors, of which some are added.
    items (Ints1d): int64 (n,): these rows, which are also their numbers in the lists.
    RETURNS (Tuple[int, float]): How many were added, and the sum of the distances to their
        centroids, 1 - cosine.
    """
    quantizer = faiss.downcast_index(index.quantizer)
    count, distance = 0, 0.0
    for rows in row_blocks(items):
        block = np.ascontiguousarray(vectors.queries(rows))
        cosines, lists = (np.ascontiguousarray(each[:, 0]) for each in quantizer.search(block, 1))
        numbers = np.ascontiguousarray(rows)
        index.add_core(len(rows), *map(faiss.swig_ptr, (block, numbers, lists)))
        near = lists >= 0
        count += int(np.count_nonzero(near))
        distance += float(np.sum(1 - cosines[near], dtype="float64"))
    return count, distance


def copy_items(faiss: Any, old: Any, index: Any, items: np.ndarray) -> np.ndarray:
    """Copy codes from the lists of an earlier index that has the same centroids.

    faiss (module): The library.
    old (faiss.IndexIVFRaBitQ): The earlier index.
    index (faiss.IndexIVFRaBitQ): Gets new lists with these codes, and no others.
    items (Ints1d): int64 (n,): for each item of the new lists, which one it was in the old ones; -1
        for one that was not.
    RETURNS (np.ndarray): bool (n,): which items the old lists had.
    """
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
