"""Write concepts to a store: they are added one by one in any order, then numbered by id. SQLite
stores and sorts them, so memory does not grow with their number.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..concepts import Concept
from ..concepts.curies import PREFIXES, split_curie
from ..errors import Warnings, quote_id, swapped
from ..files.arrays import save_texts
from ..files.package_data import read_package_text
from .store import IDS, SHOWN

_ADD = "INSERT INTO stage.concepts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_BY_ANY_ID = read_package_text(__package__, "store_place.sql")
_BY_OWN_CURIE = """
SELECT place FROM stage.concepts JOIN stage.xrefs USING (place) WHERE id = ? AND value = ?
"""
_CACHE_KILOBYTES = 65_536
# The tables of other ids: alternate ids of the ontology, and other spellings of all ids.
_OTHER_IDS = ("alt_ids", "spellings")


class StoreWriter:
    """Writes the file that a `ConceptStore` opens."""

    def __init__(self, path: Path) -> None:
        """Create the file, and a temporary one beside it.

        path (Path): The SQLite file.
        """
        self._path = path
        self._stage = path.with_suffix(".stage")
        self._known = 0
        self._unknown: dict[str, int] = {}
        with self._writing():
            self._connection = sqlite3.connect(path, isolation_level=None)
            self._connection.execute("ATTACH ? AS stage", (str(self._stage),))
            for schema in ("main", "stage"):
                self._connection.executescript(
                    f"PRAGMA {schema}.journal_mode=OFF; PRAGMA {schema}.synchronous=OFF;"
                    f"PRAGMA {schema}.cache_size=-{_CACHE_KILOBYTES}"
                )
            self._run("store_tables.sql")
            self._connection.execute("BEGIN")

    def __enter__(self) -> "StoreWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()
        self._stage.unlink(missing_ok=True)

    def __len__(self) -> int:
        return self._known + len(self._unknown)

    @property
    def only_in_data(self) -> int:
        """Count the concepts that are not in the ontology.

        RETURNS (int): Their number.
        """
        return len(self._unknown)

    def add(self, concept: Concept) -> tuple[int, bool]:
        """Add a concept of the ontology, or merge it with an earlier one with the same id.

        concept (Concept): The concept.
        RETURNS (Tuple[int, bool]): Its position, and whether it is the first with its id.
        """
        place, is_new = len(self), True
        xrefs = PREFIXES.curies(concept.xrefs)
        vocabulary = split_curie(PREFIXES.own_curie(concept.concept_id, xrefs))[0]
        shown = concept.shown_name or concept.canonical_name
        fields = (concept.concept_id, shown, concept.definition, True, vocabulary)
        if not self._execute(_ADD, (place, *fields)).rowcount:
            place, is_new = self._merge(concept, vocabulary), False
        for table in (*_OTHER_IDS, "types", "parents"):
            self._insert(table, [(value, place) for value in getattr(concept, table)])
        self._insert("xrefs", [(curie, place) for curie in xrefs])
        self._insert("languages", [(*pair, place) for pair in concept.languages])
        self._known += is_new
        return place, is_new

    def _merge(self, concept: Concept, vocabulary: str) -> int:
        (place,) = self._find("SELECT place FROM stage.concepts WHERE id = ?", concept.concept_id)
        self._execute("INSERT OR IGNORE INTO stage.repeated VALUES (?)", (place,))
        for field, value in (("definition", concept.definition), ("vocabulary", vocabulary)):
            update = f"UPDATE stage.concepts SET {field} = ? WHERE place = ? AND {field} = ''"
            self._execute(update, (value, place))
        return place

    def place(self, concept_id: str, text: str) -> int:
        """Find a concept of the annotated data, after the whole ontology was added. An unknown id
        becomes a concept, named by its most frequent text.

        concept_id (str): An id, or an alternate id, with or without the prefix of its vocabulary.
        text (str): A text that denotes it.
        RETURNS (int): Its position.
        """
        if concept_id not in self._unknown:
            row = self._place_in_ontology(concept_id)
            if row:
                return row[0]
            place = len(self)
            self._execute(_ADD, (place, concept_id, "", "", False, ""))
            self._unknown[concept_id] = place
        self._insert("unknown", [(text, self._unknown[concept_id])])
        return self._unknown[concept_id]

    def _place_in_ontology(self, concept_id: str) -> Any:
        for spelling in (concept_id, *PREFIXES.spellings_of(concept_id)):
            if row := self._find(_BY_ANY_ID, spelling):
                return row
        curie = PREFIXES.curie(concept_id)
        local_id = split_curie(curie)[1]
        by_id = "SELECT place FROM stage.concepts WHERE id = ? AND in_ontology"
        # The second search reads all cross-references.
        return self._find(by_id, local_id) and self._find(_BY_OWN_CURIE, local_id, curie)

    def number(self) -> np.ndarray:
        """Number all concepts in order of their ids, and write them.

        RETURNS (Ints1d): int32 (concepts,): the number of each concept, by its position.
        RAISES (ConnormError): CN424 if texts and ids of the annotated data are swapped.
        """
        self._warn()
        with self._writing():
            for table in (*_OTHER_IDS, "types", "parents", "xrefs"):
                self._run("store_merging.sql", table)
            self._run("store_numbering.sql")
            for table in (*_OTHER_IDS, "types"):
                self._run("store_listing.sql", table)
            rows = self._connection.execute("SELECT place FROM stage.concepts ORDER BY id")
            places = np.fromiter((place for (place,) in rows), dtype="int64", count=len(self))
        numbers = np.empty(len(places), dtype="int32")
        numbers[places] = np.arange(len(places))
        return numbers

    def close(self) -> None:
        """Complete the file, and write the ids and names of concepts beside it."""
        with self._writing():
            self._run("store_indexes.sql")
            for stem, column in ((IDS, "id"), (SHOWN, "name")):
                sql = f"SELECT CAST({column} AS BLOB) FROM concepts ORDER BY number"
                rows = self._connection.execute(sql)
                save_texts(self._path.parent, stem, chain.from_iterable(rows))

    def _warn(self) -> None:
        repeated = self._find("SELECT count(*), min(place) FROM stage.repeated")
        if repeated and repeated[0]:
            (first,) = self._find("SELECT id FROM stage.concepts WHERE place = ?", repeated[1])
            Warnings.CNW101.warn(count=repeated[0], first=quote_id(first))
        if self._unknown:
            first, place = next(iter(self._unknown.items()))
            (text,) = self._find("SELECT text FROM stage.unknown WHERE place = ?", place)
            if self._place_in_ontology(text):
                raise swapped(text, first)
            Warnings.CNW401.warn(count=len(self._unknown), first=quote_id(first))

    def _run(self, name: str, table: str = "") -> None:
        """Complete what was added, then run the statements of a file, perhaps for one table."""
        self._connection.executescript(read_package_text(__package__, name).format(table=table))

    def _find(self, sql: str, *values: Any) -> Any:
        return self._execute(sql, values).fetchone()

    def _execute(self, sql: str, values: tuple) -> sqlite3.Cursor:
        with self._writing():
            return self._connection.execute(sql, values)

    def _insert(self, table: str, rows: Sequence[tuple]) -> None:
        if not rows:
            return
        signs = ", ".join("?" * len(rows[0]))
        with self._writing():
            self._connection.executemany(f"INSERT INTO stage.{table} VALUES ({signs})", rows)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(f"SQLite could not write {self._path}: {error}") from error
