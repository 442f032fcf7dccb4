"""The parts of an IVF index as faiss has read them: it trusts that they fit together."""

from typing import Any

import numpy as np


def parts_fit(faiss: Any, index: Any, *, rows: int, width: int) -> bool:
    """Check that a search stays inside the arrays of an index.

    faiss (module): The library.
    index (faiss.Index): What `read_index` returned.
    rows (int): The number of vectors it was built from.
    width (int): Their width.
    RETURNS (bool): Whether it is an index such as `RabitqLists.build` makes, of these vectors.
    """
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
