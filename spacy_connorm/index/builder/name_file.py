"""All that is said of concepts while an index is built: which text denotes which concept.

The texts stand in a file. In memory there are a few numbers for each, so that ten million of them
take some hundred megabytes.
"""

from array import array
from collections.abc import Callable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..keys import hash_keys
from ..members import O

# Texts whose encoder inputs are made at once.
_WINDOW = 1 << 15


class Names(NamedTuple):
    """n statements that a text denotes a concept.

    hashes (np.ndarray): uint64 (n,): of the texts' encoder inputs. Two inputs with one hash count
        as one: see `KeyTable`.
    concepts (Ints1d): int32 (n,): concept numbers.
    targets (Ints1d): uint8 (n,): O or D.
    preferred (np.ndarray): bool (n,): the text is the concept's preferred name.
    texts (Ints1d): int32 (n,): which text of a `NameFile`.
    """

    hashes: np.ndarray
    concepts: np.ndarray
    targets: np.ndarray
    preferred: np.ndarray
    texts: np.ndarray


class NameFile:
    """Takes names in any order, and keeps their texts in a file that goes when it is closed."""

    def __init__(self, path: Path, inputs: Callable[[list[str]], list[bytes]]) -> None:
        """path (Path): The file to make.
        inputs (Callable): Texts to encoder inputs.
        """
        self._path = path
        self._inputs = inputs
        self._file = path.open("w+b")
        self._waiting: list[str] = []
        self._ends = array("q", [0])
        self._hashes = array("Q")
        self._concepts = array("i")
        self._targets = array("B")
        self._preferred = array("B")
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

    def add(self, text: str, place: int, target: int, *, preferred: bool = False) -> None:
        """Say that a text denotes a concept.

        text (str): A text that can be written as UTF-8.
        place (int): The concept's place among those of a `StoreWriter`.
        target (int): O or D: who says so.
        preferred (bool): Whether the text is the concept's preferred name.
        """
        self._waiting.append(text)
        self._concepts.append(place)
        self._targets.append(target)
        self._preferred.append(preferred)
        if len(self._waiting) == _WINDOW:
            self._write()

    def _write(self) -> None:
        texts, self._waiting = self._waiting, []
        if texts:
            self._hashes.frombytes(hash_keys(self._inputs(texts)).tobytes())
        encoded = [text.encode() for text in texts]
        self._file.write(b"".join(encoded))
        end = self._ends[-1]
        for each in encoded:
            end += len(each)
            self._ends.append(end)

    def ordered(self, numbers: np.ndarray) -> Names:
        """Bring the names in the order of the index: those of O by concept, then those of D; else
        they stay in the order in which they came.

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
            texts=order.astype("int32"),
        )

    def read(self, texts: np.ndarray) -> list[str]:
        """Read some texts, once all are there.

        texts (Ints1d): Which ones.
        RETURNS (List[str]): The texts.
        """
        if self._mapped is None:
            self._file.flush()
            self._mapped = mmap(self._file.fileno(), 0, access=ACCESS_READ)
        ends = np.frombuffer(self._ends, dtype="int64")
        spans = zip(ends[texts].tolist(), ends[texts + 1].tolist(), strict=True)
        return [self._mapped[start:end].decode() for start, end in spans]
