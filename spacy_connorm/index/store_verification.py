"""Check what the SQLite file of an index holds."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from .vectors.verification import require_sound

_UNORDERED = """
SELECT count(*) FROM (SELECT id <= lag(id) OVER (ORDER BY number) AS wrong FROM concepts)
WHERE wrong
"""
_NUMBERS = (("alt_ids", "number"), ("types", "number"), ("parents", "parent"), ("parents", "child"))


def verify_store(path: Path, *, members: int, counts: Mapping[str, int]) -> None:
    """Check that concepts and texts are complete and numbered as in the rest of the index.

    path (Path): The SQLite file, opened before by a `ConceptStore`.
    members (int): How many texts there are.
    counts (Mapping[str, int]): What the manifest counts.
    RAISES (ConnormError): CN402.
    """
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        try:
            _verify(connection, path, members, counts)
        except sqlite3.DatabaseError as error:
            require_sound(False, path, str(error))


def _verify(
    connection: sqlite3.Connection, path: Path, members: int, counts: Mapping[str, int]
) -> None:
    def first(sql: str) -> tuple:
        return connection.execute(sql).fetchone()

    (result,) = first("PRAGMA quick_check")
    require_sound(result == "ok", path, result)
    (concepts,) = first("SELECT count(*) FROM concepts")
    expected = counts.get("concepts", concepts)
    reason = f"it has {concepts} concepts, and the manifest says {expected}"
    require_sound(concepts == expected, path, reason)
    for table, key, size in (("concepts", "number", concepts), ("texts", "member", members)):
        numbers = first(f"SELECT count(*), min({key}), max({key}) FROM {table}")
        are_right = numbers == (size, 0, size - 1)
        require_sound(are_right, path, f"`{table}` is not numbered from 0 to {size - 1}")
    for table, column in (("concepts", "id"), ("concepts", "name"), ("texts", "text")):
        (others,) = first(f"SELECT count(*) FROM {table} WHERE typeof({column}) != 'text'")
        require_sound(not others, path, f"`{table}` has a {column} that is no text")
    (unordered,) = first(_UNORDERED)
    require_sound(not unordered, path, "its concepts are not in the order of their ids")
    (with_spellings,) = first("SELECT count(*) FROM sqlite_master WHERE name = 'spellings'")
    columns = (*_NUMBERS, ("spellings", "number")) if with_spellings else _NUMBERS
    for table, column in columns:  # older versions wrote no spellings
        sql = f"SELECT count(*) FROM {table} WHERE {column} NOT BETWEEN 0 AND {concepts - 1}"
        (unknown,) = first(f"{sql} OR typeof({column}) != 'integer'")
        require_sound(not unknown, path, f"`{table}` has a {column} that is no concept")
    (with_xrefs,) = first("SELECT count(*) FROM sqlite_master WHERE name = 'xrefs'")
    if with_xrefs:  # older versions wrote none
        sql = (
            "SELECT count(*) FROM xrefs WHERE typeof(curies) != 'text' OR number NOT BETWEEN 0 AND"
        )
        (wrong,) = first(f"{sql} {concepts - 1}")
        require_sound(not wrong, path, "`xrefs` has a row that belongs to no concept")
    (only_in_data,) = first("SELECT count(*) FROM concepts WHERE NOT in_ontology")
    expected = counts.get("concepts_only_in_data", only_in_data)
    reason = f"{only_in_data} concepts are in no ontology, and the manifest says {expected}"
    require_sound(only_in_data == expected, path, reason)
