"""What an index keeps of the records that its concepts were read from: a newer index copies the
concepts whose records have not changed, instead of reading them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..concepts.ontology import Unchanged
from ..files.arrays import open_array
from .concept_index import ConceptIndex

_DIGESTS_FILE, MEMBERS_FILE = "records.digests.npy", "records.members.npy"
_SIZE = 8
# The digest of a concept that is read each time.
_NONE = bytes(_SIZE)


def write_records(
    folder: Path,
    digests: Sequence[bytes],
    numbers: np.ndarray,
    members: np.ndarray,
    *,
    without: Iterable[np.ndarray | list[int]],
) -> None:
    """Write the digests of concepts, and the order of their names.

    folder (Path): The folder of the index.
    digests (Sequence[bytes]): The digest of each concept in O, by its position; may be empty.
    numbers (Ints1d): int32 (concepts,): the number of each concept, by its position.
    members (Ints1d): int32: the members in O, by concept and then in the order of its names.
    without (Iterable[Ints1d]): The numbers of concepts that must be read each time.
    """
    written = np.zeros(len(numbers), dtype="uint64")
    joined = b"".join(each or _NONE for each in digests)
    written[numbers[: len(digests)]] = np.frombuffer(joined, dtype="uint64")
    for concepts in without:
        written[concepts] = 0
    np.save(folder / _DIGESTS_FILE, written)
    np.save(folder / MEMBERS_FILE, members)


def ordered_members(index: ConceptIndex) -> np.ndarray:
    """List the members in O.

    index (ConceptIndex): The index.
    RETURNS (Ints1d): int32: by concept and then in the order of its names.
    RAISES (ConnormError): CN402 if the file does not belong to the index.
    """
    count = len(index.members.concept)
    return open_array(index.folder / MEMBERS_FILE, "int32", (None,), bounds=(0, count))


def known_concepts(index: ConceptIndex) -> dict[bytes, Unchanged]:
    """List the concepts that need not be read again.

    index (ConceptIndex): The index.
    RETURNS (Dict[bytes, Unchanged]): The concepts by the digest of what they were read from.
    RAISES (ConnormError): CN402 if the files do not belong to the index.
    """
    digests = open_array(index.folder / _DIGESTS_FILE, "uint64", (index.concept_count,)).tobytes()
    starts = range(0, len(digests), _SIZE)
    known = {
        digests[start : start + _SIZE]: concept
        for start, concept in zip(starts, index.store.unchanged(), strict=True)
    }
    known.pop(_NONE, None)
    return known
