"""Read-only access to a SQLite file that may be damaged, or made to do harm."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..files.folders import damaged, replaced_since, stamp

_BATCH = 500
# SQLite instructions between two checks, and the maximum number of checks per query: about ten
# seconds. Ten million concepts take a tenth of that.
_INSTRUCTIONS = 1_000_000
_MAX_CHECKS = 2_000
# The maximum size of a value in bytes. A schema can have computed columns.
_MAX_LENGTH = 1 << 24
_INVALID = "it has values of another type"


class Database:
    """A SQLite file, opened by the first query of each process. Every query raises CN402 if the
    file is damaged, or was replaced since this object was made.
    """

    def __init__(self, path: Path) -> None:
        """Remember which file it is.

        path (Path): The SQLite file.
        """
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._checks = 0
        self._opened = stamp(path)[:2]

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple]:
        """Run a query.

        sql (str): The query.
        values (Sequence[Any]): Its parameters.
        RETURNS (List[tuple]): The rows.
        """
        try:
            # A forked worker must not use the connection of its parent.
            if self._connection is None or self._process != os.getpid():
                self._connection, self._process = self._connect(), os.getpid()
            self._checks = 0
            return self._connection.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise damaged(self._path, error) from error

    def select(self, sql: str, keys: Sequence[Any]) -> list[tuple]:
        """Read any number of rows per key.

        sql (str): The query, up to the list of keys.
        keys (Sequence[Any]): Ids or numbers.
        RETURNS (List[tuple]): Rows of the key and strings.
        """
        rows: list[tuple] = []
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            rows += self.query(f"{sql} ({','.join('?' * len(batch))})", batch)
        if not {type(text) for row in rows for text in row[1:]} <= {str}:
            raise damaged(self._path, _INVALID)
        return rows

    def column(self, sql: str, kind: type, *keys: int) -> tuple[Any, ...]:
        """Read the only column of a query.

        sql (str): The query.
        kind (type): The type of its values.
        *keys (int): Its parameters.
        RETURNS (Tuple[Any, ...]): The values.
        """
        values = tuple(value for (value,) in self.query(sql, keys))
        if not all(type(value) is kind for value in values):
            raise damaged(self._path, _INVALID)
        return values

    def _connect(self) -> sqlite3.Connection:
        # A different inode if `to_disk` wrote the same content into the folder that was loaded.
        if stamp(self._path)[:2] != self._opened:
            # Its numbers no longer belong to the mapped vectors.
            raise replaced_since(self._path)
        uri = f"{self._path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_LENGTH)
        connection.set_progress_handler(self._is_endless, _INSTRUCTIONS)
        # Views and triggers, which `StoreWriter` does not make, could run anything.
        kinds = {kind for (kind,) in connection.execute("SELECT type FROM sqlite_master")}
        if not kinds <= {"table", "index"}:
            raise damaged(self._path, "its schema is not that of an index")
        return connection

    def _is_endless(self) -> bool:
        self._checks += 1
        return self._checks > _MAX_CHECKS
