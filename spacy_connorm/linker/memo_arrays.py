"""The arrays of a memo."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files.arrays import open_array
from ..files.folders import damaged

_END = 2**31
_SCORES = ("int32", "int64")


class Arrays(NamedTuple):
    """n answers of at most k concepts each, memory-mapped; k is what was asked for, or the number
    of all concepts.

    hashes (Ints1d): uint64 (forms,), sorted: hashes of the texts' forms.
    places (Ints1d): int32 (forms,): the number of each one's answer.
    rows (Ints1d): int64 (n,), sorted: the row of the index that each answer belongs to.
    searches (Ints1d): uint8 (n,): which step of the sieve answered.
    labels (Ints1d): int32 (c,), sorted: the numbers of all concepts in answers.
    texts (Ints1d): int32 (m,), sorted: the numbers of all members in answers.
    concepts (Ints2d): int32 (n, k): places in `labels`, best first; -1 for none.
    scores (Ints2d): int32 (n, k): cosines, times `index.ranking.SCALE`; int64 inner products.
    members (Ints2d): int32 (n, k): places in `texts`; -1 for the mean of a concept.
    parts (Ints3d): as `scores`, (n, k, 2): dense and lexical scores of a hybrid encoder;
        (n, k, 0) for others.
    """

    hashes: np.ndarray
    places: np.ndarray
    rows: np.ndarray
    searches: np.ndarray
    labels: np.ndarray
    texts: np.ndarray
    concepts: np.ndarray
    scores: np.ndarray
    members: np.ndarray
    parts: np.ndarray


def open_arrays(folder: Path, *, steps: int) -> Arrays:
    """Open the arrays of a memo, memory-mapped.

    folder (Path): What `write_memo` wrote.
    steps (int): Of the sieve that answered.
    RETURNS (Arrays): The arrays.
    RAISES (ConnormError): CN402 if they do not fit together.
    """
    file = {name: folder / f"{name}.npy" for name in Arrays._fields}
    rows = open_array(file["rows"], "int64", (None,), bounds=(0, _END))
    hashes = open_array(file["hashes"], "uint64", (None,))
    labels = open_array(file["labels"], "int32", (None,), bounds=(0, _END))
    texts = open_array(file["texts"], "int32", (None,), bounds=(0, _END))
    n, none = len(rows), -1
    concepts = open_array(file["concepts"], "int32", (n, None), bounds=(none, len(labels)))
    shape = concepts.shape
    parts = open_array(file["parts"], _SCORES, (*shape, None))
    if parts.shape[2] not in (0, 2):
        raise damaged(file["parts"], f"it has {parts.shape[2]} parts of each score")
    return Arrays(
        hashes=hashes,
        places=open_array(file["places"], "int32", hashes.shape, bounds=(0, n)),
        rows=rows,
        searches=open_array(file["searches"], "uint8", (n,), bounds=(0, steps)),
        labels=labels,
        texts=texts,
        concepts=concepts,
        scores=open_array(file["scores"], _SCORES, shape),
        members=open_array(file["members"], "int32", shape, bounds=(none, len(texts))),
        parts=parts,
    )
