"""Batches as they are drawn, and the file that keeps those of an epoch."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file

_ROWS = "rows"


class RankedRows(NamedTuple):
    """A batch of M mentions, each with a list of k candidates to be ranked.

    rows (Ints1d): int64 (B,), distinct rows of the pool, ascending: all texts of the batch.
    mentions (Ints1d): int64 (M,), places in `rows`.
    candidates (Ints2d): int64 (M, k), places in `rows`, the nearest first.
    relevance (Ints2d): int64 (M, k), of each candidate to its mention, see `Relevance`.
    lexical (Floats2d): float32 (M, k), cosines of the n-gram vectors of mention and candidate.
    hypernyms (Ints2d): int64 (M, h), places in `rows`, -1 where a mention has fewer.
    """

    rows: np.ndarray
    mentions: np.ndarray
    candidates: np.ndarray
    relevance: np.ndarray
    lexical: np.ndarray
    hypernyms: np.ndarray


# Texts that are compared with each other by their concepts are but rows of the pool.
BatchRows = np.ndarray | RankedRows


def rows_of(batch: BatchRows) -> np.ndarray:
    """RETURNS (Ints1d): int64 (B,), the rows of the pool whose texts a batch has."""
    return batch.rows if isinstance(batch, RankedRows) else batch


def write_batches(path: Path, batches: Sequence[BatchRows], *, pool: str) -> None:
    """Keep the batches of an epoch, aside first and then renamed.

    path (Path): The `.npz` file.
    batches (Sequence[BatchRows]): At least one, all of a kind.
    pool (str): The checksum of what they were drawn from.
    """
    columns: dict[str, np.ndarray] = {}
    for name, parts in _by_name(batches).items():
        columns[name] = np.concatenate(parts)
        columns[_borders(name)] = np.cumsum([len(part) for part in parts[:-1]], dtype="int64")
    with atomic_file(path) as aside:
        np.savez(aside, pool=pool, **columns)  # type: ignore[arg-type]  # names are no options


def read_batches(path: Path, *, pool: str) -> list[BatchRows]:
    """Read the batches of an epoch.

    path (Path): As `write_batches` wrote it.
    pool (str): The checksum of what they must have been drawn from.
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
