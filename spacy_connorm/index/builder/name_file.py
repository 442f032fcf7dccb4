"""The names of all concepts while an index is built.

The texts are in a file. Memory holds a few numbers for each, some hundred megabytes for ten million
names.
"""

from array import array
from collections.abc import Callable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..members import O

# How many texts are hashed at once.
_WINDOW = 1 << 15


class Names(NamedTuple):
    """n pairs of a text and a concept that it denotes.

    hashes (np.ndarray): uint64 (n,): the hashes of the encoder inputs. Inputs with the same hash
        count as equal, see `KeyTable`.
    concepts (Ints1d): int32 (n,): concept numbers.
    targets (Ints1d): uint8 (n,): O or D.
    preferred (np.ndarray): bool (n,): whether the text is the concept's preferred name.
    inexact (np.ndarray): bool (n,): whether it is a synonym of the ontology that is not exact.
    texts (Ints1d): int32 (n,): the number of the text in a `NameFile`.
    """

    hashes: np.ndarray
    concepts: np.ndarray
    targets: np.ndarray
    preferred: np.ndarray
    inexact: np.ndarray
    texts: np.ndarray


class NameFile:
    """Collects names in any order. Their texts are in a file that is deleted on exit."""

    def __init__(self, path: Path, hash_inputs: Callable[[list[str]], np.ndarray]) -> None:
        """Create the file.

        path (Path): The file.
        hash_inputs (Callable): Hashes the encoder inputs of texts; see `InputHashes`.
        """
        self._path = path
        self._hash_inputs = hash_inputs
        self._file = path.open("w+b")
        self._waiting: list[str] = []
        self._ends = array("q", [0])
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

    def __len__(self) -> int:
        return len(self._concepts)

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
        place (int): The place of the concept in the `StoreWriter`.
        target (int): O or D: where the name comes from.
        preferred (bool): Whether the text is the concept's preferred name.
        inexact (bool): Whether it is a synonym of the ontology that is not exact.
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
        if texts:
            self._hashes.frombytes(self._hash_inputs(texts).tobytes())
        encoded = [text.encode() for text in texts]
        self._file.write(b"".join(encoded))
        end = self._ends[-1]
        for each in encoded:
            end += len(each)
            self._ends.append(end)

    def ordered(self, numbers: np.ndarray) -> Names:
        """Sort the names in the order of the index: those of O by concept, then those of D, ties in
        the order in which they were added.

        numbers (Ints1d): int32 (concepts,): the number of each concept, by its place.
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

    def read(self, texts: np.ndarray) -> list[str]:
        """Read some texts, after all names were added.

        texts (Ints1d): Their numbers.
        RETURNS (List[str]): The texts.
        """
        if self._mapped is None:
            self._file.flush()
            self._mapped = mmap(self._file.fileno(), 0, access=ACCESS_READ)
        ends = np.frombuffer(self._ends, dtype="int64")
        spans = zip(ends[texts].tolist(), ends[texts + 1].tolist(), strict=True)
        return [self._mapped[start:end].decode() for start, end in spans]
