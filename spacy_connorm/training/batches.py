"""The form of a batch, from the batcher to the loss, and the file that keeps the batches of an
epoch.
"""

from collections.abc import Sequence
from enum import IntEnum
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors
from ..files.atomic import atomic_file

_ROWS = "rows"


class Relevance(IntEnum):
    """The relevance of a name to a mention (Yan et al. 2021, section 2.2)."""

    NONE = 0
    HYPERNYM = 1
    SYNONYM = 2


class Memberships(NamedTuple):
    """The concepts of the texts in a batch, for objectives that compare pairs of texts.

    texts (Ints1d): int64 (n,), positions in the batch.
    concepts (Ints1d): int64 (n,), the number of a concept of each text.
    """

    texts: Any
    concepts: Any

    @classmethod
    def of(cls, concepts: Sequence[tuple[int, ...]]) -> "Memberships":
        """Convert the concepts of texts to arrays.

        concepts (Sequence[Tuple[int, ...]]): The numbers of the concepts of each text.
        RETURNS (Memberships): The arrays.
        """
        texts = np.repeat(np.arange(len(concepts)), list(map(len, concepts)))
        return cls(texts, np.fromiter(chain.from_iterable(concepts), dtype="int64"))


class Rankings(NamedTuple):
    """M mentions, each with k candidates to rank.

    mentions (Ints1d): int64 (M,), positions in the batch.
    candidates (Ints2d): int64 (M, k), positions in the batch, nearest first.
    relevance (Ints2d): int64 (M, k), the relevance of each candidate to its mention, see
        `Relevance`.
    lexical (Floats2d): float32 (M, k), cosines of the n-gram vectors of mention and candidate.
    hypernyms (Ints2d): int64 (M, h), positions in the batch; -1 if a mention has fewer.
    """

    mentions: Any
    candidates: Any
    relevance: Any
    lexical: Any
    hypernyms: Any


class Groundings(NamedTuple):
    """T triplets of names, and P concepts with some of their names.

    anchors (Ints1d): int64 (T,), positions in the batch.
    positives (Ints1d): int64 (T,), positions in the batch: synonyms of the anchors.
    negatives (Ints1d): int64 (T,), positions in the batch: names that are not synonyms of the
        anchors.
    concepts (Ints1d): int64 (P,), concept numbers, each once.
    members (Ints1d): int64 (M,), positions in the batch: names of the concepts.
    owners (Ints1d): int64 (M,), the position in `concepts` of each of these names.
    """

    anchors: Any
    positives: Any
    negatives: Any
    concepts: Any
    members: Any
    owners: Any


# The relations that an objective reads from a batch.
RelationKind = Memberships | Rankings | Groundings


class Batch(NamedTuple):
    """B texts, and the relations between them.

    rows (Ints1d): int64 (B,), distinct rows of the pool, ascending.
    relations (RelationKind): The relations, by position in `rows`.
    """

    rows: np.ndarray
    relations: RelationKind


def write_batches(path: Path, batches: Sequence[Batch], *, pool: str) -> None:
    """Write the batches of an epoch atomically.

    path (Path): The `.npz` file.
    batches (Sequence[Batch]): At least one; all have the same kind of relations.
    pool (str): The digest of the pool that they were drawn from.
    """
    names = (_ROWS, *batches[0].relations._fields)
    columns: dict[str, np.ndarray] = {}
    values = ((batch.rows, *batch.relations) for batch in batches)
    for name, *parts in zip(names, *values, strict=True):
        columns[name] = np.concatenate(parts)
        columns[_borders(name)] = np.cumsum([len(part) for part in parts[:-1]], dtype="int64")
    with atomic_file(path) as aside:
        np.savez(aside, pool=pool, **columns)  # type: ignore[arg-type]  # taken for options


def read_batches(path: Path, relations: Any, *, pool: str) -> list[Batch]:
    """Read the batches of an epoch.

    path (Path): A file written by `write_batches`.
    relations (Type): The kind of their relations.
    pool (str): The digest of the pool that they must have been drawn from.
    RETURNS (List[Batch]): The batches.
    RAISES (ConnormError): CN828 if they were drawn from another pool.
    """
    with np.load(path) as stored:
        if str(stored["pool"]) != pool:
            raise Errors.CN828(path=path.parent, what="ontology or corpus")
        names = (_ROWS, *relations._fields)
        columns = (np.split(stored[name], stored[_borders(name)]) for name in names)
        return [Batch(rows, relations(*values)) for rows, *values in zip(*columns, strict=True)]


def _borders(name: str) -> str:
    return f"{name}_borders"
