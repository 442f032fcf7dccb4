"""The vectors of candidates' names, for a reranker that compares them with sentences."""

from collections.abc import Sequence

import numpy as np

from ..errors import ConnormError, Errors
from ..index.vectors.base import HybridVectors, SparseVectors, Vectors, from_raw
from ..linker.retriever import Retriever


def _dense_width(retriever: Retriever) -> int:
    """RETURNS (int): How many dense components vectors of the index have.
    RAISES (ConnormError): CN014 if the encoder's vectors are sparse.
    """
    width = retriever.index.vectors.widths.get("dense")
    if width is None:
        raise ConnormError(Errors.CN014)
    return width


def name_vectors(names: Sequence[str], retriever: Retriever) -> np.ndarray:
    """Read the vectors of names from the index; those that it lacks are encoded.

    names (Sequence[str]): n preferred names.
    retriever (Retriever): Has the encoder and the index, whose vectors have a dense part.
    RETURNS (Floats2d): float32 (n, width): unit vectors, without the lexical part of hybrid ones.
    """
    found = np.zeros((len(names), _dense_width(retriever)), dtype="float32")
    if not names:
        return found
    keys = retriever.encoder.inputs(names)
    rows = retriever.index.keys.rows(keys)
    held = np.flatnonzero(rows >= 0)
    if len(held):
        found[held] = _dense(retriever.index.vectors.take(rows[held]))
    new = np.flatnonzero(rows < 0)
    if len(new):
        raw = retriever.encoder.encode_inputs([keys[place] for place in new.tolist()])
        found[new] = _dense(from_raw(raw))
    return found


def _dense(vectors: Vectors) -> np.ndarray:
    dense = vectors.dense if isinstance(vectors, HybridVectors) else vectors
    if isinstance(dense, SparseVectors):
        raise ConnormError(Errors.CN014)
    return np.asarray(dense.unit, dtype="float32")
