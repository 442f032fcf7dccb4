"""What an index keeps of the records that its concepts were read from: a newer index copies the
concepts whose records have not changed, instead of reading them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..concepts.ontology import KnownConcepts
from ..files.arrays import open_array
from ..files.folders import damaged
from ..files.text import read_lines
from ..text.substitutions import Learned
from .concept_index import ConceptIndex

_DIGESTS_FILE, MEMBERS_FILE = "records.digests.npy", "records.members.npy"
_LEARNED_FILE = "records.learned.txt"
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


def write_learned(folder: Path, learned: Mapping[bytes, Learned]) -> None:
    """Write what substitutions were learned from.

    folder (Path): The folder of the index.
    learned (Mapping[bytes, Learned]): What a `NameLearner` has learned.
    """
    content = "".join(f"{digest.hex()}{each.line}\n" for digest, each in learned.items())
    (folder / _LEARNED_FILE).write_text(content, encoding="utf8")


def ordered_members(index: ConceptIndex) -> np.ndarray:
    """List the members in O.

    index (ConceptIndex): The index.
    RETURNS (Ints1d): int32: by concept and then in the order of its names.
    RAISES (ConnormError): CN402 if the file does not belong to the index.
    """
    count = len(index.members.concept)
    return open_array(index.folder / MEMBERS_FILE, "int32", (None,), bounds=(0, count))


def fill_known(index: ConceptIndex, known: KnownConcepts) -> None:
    """Find the concepts that need not be read again.

    index (ConceptIndex): The older index.
    known (KnownConcepts): Filled with its concepts.
    RAISES (ConnormError): CN402 if the files do not belong to the index.
    """
    path = index.folder / _DIGESTS_FILE
    digests = open_array(path, "uint64", (index.concept_count,)).view(f"V{_SIZE}")
    known.numbers.update(zip(digests.tolist(), range(len(digests)), strict=True))
    known.numbers.pop(_NONE, None)
    known.ids.extend(index.store.all_ids())
    known.alt_ids.update(index.store.all_others("alt_ids"))
    known.parents.update(index.store.all_others("parents"))
    path = index.folder / _LEARNED_FILE
    if path.exists():
        known.learned.update(read_learned(path))


def read_learned(path: Path) -> Iterator[tuple[bytes, Learned]]:
    """Read what substitutions were learned from.

    path (Path): The file that `write_learned` wrote.
    YIELDS (Tuple[bytes, Learned]): Digests, and what was learned from their concepts.
    RAISES (ConnormError): CN402 for a line that is anything else.
    """
    for _, line in read_lines(path):
        try:
            yield bytes.fromhex(line[: 2 * _SIZE]), Learned.parse(line[2 * _SIZE :])
        except (ValueError, TypeError, RecursionError) as error:
            raise damaged(path, error) from error
