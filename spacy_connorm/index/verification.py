"""Check that an encoder still reads and encodes the texts of an index as when it was built. Opening
an index compares checksums of its files and of the encoder's, which say nothing about the libraries
and the processor that compute the vectors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..encoders.protocol import Encoder, encode, encoder_inputs
from ..files.folders import damaged
from .concept_index import ConceptIndex
from .rows import hash_keys
from .vectors.hybrid import HybridVectors
from .vectors.kinds import Vectors, from_raw
from .vectors.sparse import SparseVectors

# The number of texts read and tokenized at once.
_CHUNK = 4096
# The number of texts to encode again.
_SAMPLE = 256
# The maximum squared distance between two vectors of the same text. Dense vectors may be rounded to
# eight bits, or encoded by another processor.
_SAME_DENSE, _SAME_SPARSE = 2e-3, 1e-8


def verify_texts(index: ConceptIndex, encoder: Encoder, *, report: Callable[[int], Any]) -> None:
    """Check that the encoder sees each text as the input of its row, and gives it the row's vector;
    and that it has the words that the index says.

    index (ConceptIndex): The index.
    encoder (Model[List[str], Floats2d]): The encoder that it was built with. It
        tokenizes all texts, and encodes some of them.
    report (Callable): Called with the number of texts read since its last call.
    RAISES (ConnormError): CN402.
    """
    store, count = index.store, len(index.members.concept)
    for start in range(0, count, _CHUNK):
        members = range(start, min(start + _CHUNK, count))
        texts = store.texts(members)
        inputs = encoder_inputs(encoder, [texts[member] for member in members])
        found = index.keys.rows_of(hash_keys(inputs))
        if not np.array_equal(found, index.members.row_numbers[members.start : members.stop]):
            raise damaged(index.folder / "keys.hashes.npy", "a text is not found in its own row")
        bags = [list(index.words.bag(texts[member])) for member in members]
        if index.name_words.of(members) != bags:
            raise damaged(index.folder / "name_words.numbers.npy", "a text has other words")
        report(len(members))
    rows = np.unique(np.linspace(0, len(index.vectors) - 1, _SAMPLE).astype("int64"))
    first = index.members.start[rows].tolist()
    texts = store.texts(first)
    encoded = from_raw(encode(encoder, [texts[member] for member in first]))
    if not are_same(encoded, index.vectors.take(rows)):
        raise damaged(index.folder / "texts.norms.npy", "a vector is not that of its text")


def are_same(one: Vectors, other: Vectors) -> bool:
    """Compare vectors row by row.

    one (Vectors): n vectors.
    other (Vectors): As many vectors of the same kind, possibly with another precision.
    RETURNS (bool): Whether they could be vectors of the same texts.
    """
    if isinstance(one, HybridVectors) and isinstance(other, HybridVectors):
        return are_same(one.dense, other.dense) and are_same(one.lexical, other.lexical)
    rows = np.arange(len(one))
    distances = from_raw(one.queries(rows) - other.queries(rows)).norms ** 2
    are_as_long = np.allclose(one.norms, other.norms, rtol=2e-2, atol=1e-5)
    largest = _SAME_SPARSE if isinstance(one, SparseVectors) else _SAME_DENSE
    return are_as_long and bool((distances < largest).all())
