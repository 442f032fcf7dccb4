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


# A batch whose texts are compared by their concepts is just its rows of the pool.
BatchRows = np.ndarray | RankedRows


def rows_of(batch: BatchRows) -> np.ndarray:
    """RETURNS (Ints1d): int64 (B,), the rows of the pool in a batch."""
    return batch.rows if isinstance(batch, RankedRows) else batch


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
            raise ConnormError(Errors.CN828.format(path=path.parent))
        columns = [
            np.split(kept[name], kept[_borders(name)])
            for name in RankedRows._fields
            if name in kept
        ]
    if len(columns) == 1:
        return list(columns[0])
    return [RankedRows(*parts) for parts in zip(*columns, strict=True)]


def _by_name(batches: Sequence[BatchRows]) -> dict[str, list[np.ndarray]]:
    if not isinstance(batches[0], RankedRows):
        return {_ROWS: [rows_of(batch) for batch in batches]}
    return {name: [getattr(batch, name) for batch in batches] for name in RankedRows._fields}


def _borders(name: str) -> str:
    return f"{name}_borders"
