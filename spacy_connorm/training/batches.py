"""The rows of batches, and the file that keeps those of an epoch."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file

_ROWS = "rows"


class RankedRows(NamedTuple):
    """A batch of M mentions, each with k candidates to rank.

    rows (Ints1d): int64 (B,), distinct rows of the pool, ascending: all texts of the batch.
    mentions (Ints1d): int64 (M,), positions in `rows`.
    candidates (Ints2d): int64 (M, k), positions in `rows`, nearest first.
    relevance (Ints2d): int64 (M, k), of each candidate to its mention, see `Relevance`.
    lexical (Floats2d): float32 (M, k), cosines of the n-gram vectors of mention and candidate.
    hypernyms (Ints2d): int64 (M, h), positions in `rows`, -1 where a mention has fewer.
    """

    rows: np.ndarray
    mentions: np.ndarray
    candidates: np.ndarray
    relevance: np.ndarray
    lexical: np.ndarray
    hypernyms: np.ndarray


class GroundedRows(NamedTuple):
    """A batch of T triplets of names, and P concepts with some of their names.

    rows (Ints1d): int64 (B,), distinct rows of the pool, ascending: all texts of the batch.
    anchors (Ints1d): int64 (T,), positions in `rows`.
    positives (Ints1d): int64 (T,), positions in `rows`: synonyms of the anchors.
    negatives (Ints1d): int64 (T,), positions in `rows`: no synonyms of the anchors.
    concepts (Ints1d): int64 (P,), numbers of concepts, each once.
    members (Ints1d): int64 (M,), positions in `rows`: names of the concepts.
    owners (Ints1d): int64 (M,), the position in `concepts` of each of these.
    """

    rows: np.ndarray
    anchors: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    concepts: np.ndarray
    members: np.ndarray
    owners: np.ndarray


# A batch whose texts are compared by their concepts is just its rows of the pool.
BatchRows = np.ndarray | RankedRows | GroundedRows
_KINDS = (RankedRows, GroundedRows)


def rows_of(batch: BatchRows) -> np.ndarray:
    """RETURNS (Ints1d): int64 (B,), the rows of the pool in a batch."""
    return batch if isinstance(batch, np.ndarray) else batch.rows


def write_batches(path: Path, batches: Sequence[BatchRows], *, pool: str) -> None:
    """Write the batches of an epoch, atomically.

    path (Path): The `.npz` file.
    batches (Sequence[BatchRows]): At least one, all of one kind.
    pool (str): The digest of the pool that they were drawn from.
    """
    columns: dict[str, np.ndarray] = {}
    for name, parts in _by_name(batches).items():
        columns[name] = np.concatenate(parts)
        columns[_borders(name)] = np.cumsum([len(part) for part in parts[:-1]], dtype="int64")
    with atomic_file(path) as aside:
        np.savez(aside, pool=pool, **columns)  # type: ignore[arg-type]  # taken for options


def read_batches(path: Path, *, pool: str) -> list[BatchRows]:
    """Read the batches of an epoch.

    path (Path): A file of `write_batches`.
    pool (str): The digest of the pool that they must have been drawn from.
    RETURNS (List[BatchRows]): The batches.
    RAISES (ConnormError): CN828 if they were drawn from another pool.
    """
    with np.load(path) as kept:
        if str(kept["pool"]) != pool:
            raise ConnormError(Errors.CN828.format(path=path.parent, what="ontology or corpus"))
        columns = {
            name: np.split(kept[name], kept[_borders(name)])
            for name in dict.fromkeys(name for kind in _KINDS for name in kind._fields)
            if name in kept
        }
    for kind in _KINDS:
        if set(kind._fields) == columns.keys():
            parts = [columns[name] for name in kind._fields]
            return [kind(*each) for each in zip(*parts, strict=True)]
    return list(columns[_ROWS])


def _by_name(batches: Sequence[BatchRows]) -> dict[str, list[np.ndarray]]:
    first = batches[0]
    if isinstance(first, np.ndarray):
        return {_ROWS: [rows_of(batch) for batch in batches]}
    return {name: [getattr(batch, name) for batch in batches] for name in first._fields}


def _borders(name: str) -> str:
    return f"{name}_borders"
