"""The names of all concepts while an index is built: their texts in a file, the hashes of their
encoder inputs, and their groups (rows and members). Only a few numbers per name are in memory, a
few hundred megabytes for ten million names.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files.arrays import save_texts
from .concept_index import ConceptIndex
from .rows import KeyTable, Members
from .search import D, O
from .store import NAMES

# The number of texts hashed at once, or whose places are read.
_WINDOW = 1 << 15
# Rows that are only in O come first, then those in both O and D, then those only in D.
_PLACES = {O: 0, O | D: 1, D: 2}


class Names(NamedTuple):
    """n pairs of a text and a concept that it denotes.

    hashes (np.ndarray): uint64 (n,): the hashes of the encoder inputs. Inputs with the same hash
        count as equal, see `KeyTable`.
    concepts (Ints1d): int32 (n,): concept numbers.
    targets (Ints1d): uint8 (n,): O or D.
    preferred (np.ndarray): bool (n,): whether the text is the concept's preferred name.
    inexact (np.ndarray): bool (n,): whether it is an inexact synonym of the ontology.
    texts (Ints1d): int32 (n,): the number of the text in a `NameFile`.
    """

    hashes: np.ndarray
    concepts: np.ndarray
    targets: np.ndarray
    preferred: np.ndarray
    inexact: np.ndarray
    texts: np.ndarray


class NameFile:
    """Collects names in any order. Their texts are in a file that is deleted when the block
    ends.
    """

    def __init__(
        self,
        path: Path,
        hash_inputs: Callable[[list[str]], np.ndarray],
        older: ConceptIndex | None = None,
    ) -> None:
        """Create the file.

        path (Path): The file.
        hash_inputs (Callable): Hashes the encoder inputs of texts, uint64.
        older (Optional[ConceptIndex]): An older index. The hashes of texts in both are copied,
            since reading a text as the encoder does takes longer.
        """
        self._path = path
        self._hash_inputs = hash_inputs
        self._file = path.open("w+b")
        self._waiting: list[str] = []
        self._ends = array("q", [0])
        self._older: KeyTable | None = None
        self._older_hashes = np.zeros(1, dtype="uint64")
        if older is not None:
            self._older = KeyTable.from_hashes(_hash_texts(older.store.all_texts()))
            self._older_hashes = older.keys.hashes()[older.members.row_numbers]
        self._hashes = array("Q")
        self._concepts = array("i")
        self._targets = array("B")
        self._preferred = array("B")
        self._inexact = array("B")
        self._mapped: mmap | None = None

    def __enter__(self) -> "NameFile":
        return self

    def __exit__(self, *error: object) -> None:
        if self._mapped is not None:
            self._mapped.close()
        self._file.close()
        self._path.unlink()

    def add(
        self,
        text: str,
        place: int,
        target: int,
        *,
        preferred: bool = False,
        inexact: bool = False,
    ) -> None:
        """Add a name.

        text (str): A text that can be encoded as UTF-8.
        place (int): The concept's position in the `StoreWriter`.
        target (int): The source of the name: O or D.
        preferred (bool): Whether the text is the concept's preferred name.
        inexact (bool): Whether it is an inexact synonym of the ontology.
        """
        self._waiting.append(text)
        self._concepts.append(place)
        self._targets.append(target)
        self._preferred.append(preferred)
        self._inexact.append(inexact)
        if len(self._waiting) == _WINDOW:
            self._write()

    def _write(self) -> None:
        texts, self._waiting = self._waiting, []
        members = np.full(len(texts), -1)
        if self._older is not None:  # for what equal hashes mean, see `KeyTable`
            members = self._older.rows_of(_hash_texts(texts))
        hashes = self._older_hashes[members]
        new = np.flatnonzero(members < 0)
        if len(new):
            hashes[new] = self._hash_inputs([texts[place] for place in new])
        self._hashes.frombytes(hashes.tobytes())
        encoded = [text.encode() for text in texts]
        self._file.write(b"".join(encoded))
        end = self._ends[-1]
        for content in encoded:
            end += len(content)
            self._ends.append(end)

    def ordered(self, numbers: np.ndarray) -> Names:
        """Sort the names in the order of the index: first the names in O by concept, then those in
        D. Ties stay in the order in which they were added.

        numbers (Ints1d): int32 (concepts,): the number of each concept, by its position.
        RETURNS (Names): The names.
        """
        self._write()
        concepts = numbers[np.frombuffer(self._concepts, dtype="int32")]
        targets = np.frombuffer(self._targets, dtype="uint8")
        groups = np.where(targets == O, concepts, np.int32(len(numbers)))
        order = np.argsort(groups, kind="stable")
        return Names(
            hashes=np.frombuffer(self._hashes, dtype="uint64")[order],
            concepts=concepts[order],
            targets=targets[order],
            preferred=np.frombuffer(self._preferred, dtype="bool")[order],
            inexact=np.frombuffer(self._inexact, dtype="bool")[order],
            texts=order.astype("int32"),
        )

    def read(self, texts: np.ndarray) -> Iterator[str]:
        """Read some texts, after all names were added.

        texts (Ints1d): Their numbers.
        YIELDS (str): The texts.
        """
        return map(bytes.decode, self._encoded(texts))

    def _encoded(self, texts: np.ndarray) -> Iterator[bytes]:
        if self._mapped is None:
            self._file.flush()
            self._mapped = mmap(self._file.fileno(), 0, access=ACCESS_READ)
        ends = np.frombuffer(self._ends, dtype="int64")
        for first in range(0, len(texts), _WINDOW):
            some = texts[first : first + _WINDOW]
            for start, end in zip(ends[some].tolist(), ends[some + 1].tolist(), strict=True):
                yield self._mapped[start:end]

    def write(self, texts: np.ndarray, folder: Path) -> None:
        """Write some texts one after another, for a `ConceptStore`.

        texts (Ints1d): Their numbers.
        folder (Path): The folder of the index.
        """
        save_texts(folder, NAMES, self._encoded(texts))


def _hash_texts(texts: Iterable[str]) -> np.ndarray:
    # Python's own hashes differ between processes, but take a tenth of the time.
    return np.fromiter(map(hash, texts), dtype="int64").view("uint64")


class GroupedNames(NamedTuple):
    """Names grouped into rows and members.

    members (Members): The members.
    texts (Ints1d): int32 (members,): the text of each member, as written for its concept.
    hashes (np.ndarray): uint64 (rows,): the hashes of the encoder inputs.
    """

    members: Members
    texts: np.ndarray
    hashes: np.ndarray

    @property
    def encoded(self) -> np.ndarray:
        """Choose the text to encode for each row.

        RETURNS (Ints1d): int32 (rows,): text numbers.
        """
        return self.texts[self.members.start[:-1]]


def group_names(names: Names) -> GroupedNames:
    """Give each distinct encoder input one row, and each row its members.

    names (Names): The names. Repetitions in D are counted.
    RETURNS (GroupedNames): Rows and members in the order required by `Members`; ties in order of
        first occurrence.
    """
    hashes, rows = _rows(names)
    pairs = rows * (int(names.concepts.max(initial=0)) + 1) + names.concepts
    # A concept's preferred name comes first, since the first text of a pair is its text.
    by_pair = np.lexsort((~names.preferred, pairs))
    starts = np.flatnonzero(np.diff(pairs[by_pair], prepend=-1))
    chosen = by_pair[starts]
    order = np.lexsort((np.minimum.reduceat(by_pair, starts), rows[chosen]))
    chosen = chosen[order]
    members = Members(
        start=np.searchsorted(rows[chosen], np.arange(len(hashes) + 1)).astype("int64"),
        concept=names.concepts[chosen],
        target=np.bitwise_or.reduceat(names.targets[by_pair], starts)[order],
        count=np.add.reduceat(names.targets[by_pair] == D, starts, dtype="int32")[order],
        preferred=np.logical_or.reduceat(names.preferred[by_pair], starts)[order],
        inexact=np.logical_and.reduceat(names.inexact[by_pair], starts)[order],
    )
    return GroupedNames(members, names.texts[chosen], hashes)


def _rows(names: Names) -> tuple[np.ndarray, np.ndarray]:
    """Number the rows.

    RETURNS (Tuple[np.ndarray, np.ndarray]): The hash of each row, and the row of each name.
    """
    hashes, first, which = np.unique(names.hashes, return_index=True, return_inverse=True)
    targets = np.zeros(len(hashes), dtype="uint8")
    for target in (O, D):
        targets[which[names.targets == target]] |= target
    places = np.zeros(4, dtype="uint8")
    places[list(_PLACES)] = list(_PLACES.values())
    order = np.lexsort((first, places[targets]))
    row_of = np.empty(len(hashes), dtype="int64")
    row_of[order] = np.arange(len(hashes))
    return hashes[order], row_of[which]
