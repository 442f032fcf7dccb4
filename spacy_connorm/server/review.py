"""Decisions that people make about mappings: rows of a file, and synonyms of the pipeline."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..concepts import NIL
from ..documents.sssom import (
    COLUMNS,
    NO_TERM,
    REVIEW,
    STATUSES,
    MappingSet,
    TermMapping,
    cells_of,
    read_sssom,
    write_sssom,
)
from ..errors import ConnormError, Errors, require_choice, require_ending
from ..files.atomic import only_writer
from ..files.folders import Stamp, stamp
from ..files.json_items import json_line
from ..workflows.corrected_pipeline import CorrectedPipeline
from ..workflows.mapping_ids import MappingIds, concept_curie, concept_ids_of
from ..workflows.mapping_rows import (
    CLOSE,
    EXACT,
    PREDICATES,
    decide_mapping,
    summarize_mappings,
    take_back,
)

DECIDED, ALL = "decided", "all"
FILTERS = (*STATUSES, DECIDED, ALL)
# Only terms that mean exactly the concept become its synonyms.
_SYNONYMOUS = (EXACT, CLOSE)


class MappingReview:
    """A file of mappings beside a corrected pipeline. It can be shared between threads.

    A decision is also a correction of the pipeline if the term means exactly the concept, or none;
    it then becomes a synonym at once.
    """

    def __init__(self, pipeline: CorrectedPipeline, path: str | Path) -> None:
        """Read the file.

        pipeline (CorrectedPipeline): The pipeline, which has the concepts and is corrected by
            decisions.
        path (Union[str, Path]): A file written by `connorm map`.
        RAISES (ConnormError): The errors of `ReviewFile`.
        """
        self._pipeline = pipeline
        self._file = ReviewFile(path)
        self._ids = MappingIds("local", {})
        self._changing = threading.RLock()

    @property
    def name(self) -> str:
        """The name of the file.

        RETURNS (str): Without its folder.
        """
        return self._file.path.name

    def overview(self) -> dict[str, Any]:
        """Summarize the review.

        RETURNS (Dict[str, Any]): What is decided, and what is left.
        """
        with self._changing:
            self._file.refresh()
            summary = summarize_mappings(self._file.mappings)
            return {
                "file": self.name,
                "revision": self._file.revision,
                "rows": summary.rows,
                "counts": summary.counts,
                "decided": summary.decided,
                "predicates": list(PREDICATES),
            }

    def rows(self, status: str, *, offset: int, limit: int) -> dict[str, Any]:
        """List rows, the most frequent terms first.

        status (str): One of `FILTERS`.
        offset, limit (int): The range of rows to return.
        RETURNS (Dict[str, Any]): The total number of rows, and the rows.
        """
        with self._changing:
            self._file.refresh()
            chosen = [
                (-mapping.count, row)
                for row, mapping in enumerate(self._file.mappings)
                if _is_chosen(mapping, status)
            ]
            places = [row for _, row in sorted(chosen)[offset : offset + limit]]
            return {"total": len(chosen), "rows": list(map(self._view, places))}

    def row(self, row: int) -> dict[str, Any]:
        """Read the current content of a row.

        RETURNS (Dict[str, Any]): The row.
        RAISES (ConnormError): CN786 if there is none.
        """
        with self._changing:
            self._file.refresh()
            return self._view(row)

    def decide(
        self, row: int, *, version: str, concept: str, predicate: str = EXACT, author: str = ""
    ) -> dict[str, Any]:
        """Decide what a term means. The decision is on disk when this returns.

        row (int): The row's place in the file, from 0.
        version (str): The version of the row that the person saw; see `ReviewFile.version`.
        concept (str): A concept's id, also as a CURIE, or "NIL" for none.
        predicate (str): One of `PREDICATES`.
        author (str): Who decides.
        RETURNS (Dict[str, Any]): The row.
        RAISES (ConnormError): CN006 for an author with `|`, CN411 for an unknown concept, CN786 and
            CN787 as for `ReviewFile.require`, CN118 for another predicate, CN108 or CN109 if a file
            can't be written.
        """
        require_choice("predicate", predicate, PREDICATES)
        kb_id, object_id, label = self._find(concept)
        with self._changing, self._file.locked():
            mapping = self._file.require(row, version)
            decided = decide_mapping(
                mapping,
                object_id=object_id,
                object_label=label,
                predicate_id=predicate,
                author=author,
            )
            is_synonym = kb_id == NIL or predicate in _SYNONYMOUS
            made = self._correct(mapping.subject_label, kb_id, author) if is_synonym else ""
            decided = replace(decided, correction=made)
            try:
                self._file.change(row, decided, self._ids.addresses_of)
            except BaseException:
                self._undo(made, author)
                raise
            self._undo(mapping.correction, author)
            return self._view(row)

    def undo(self, row: int, *, version: str, author: str = "") -> dict[str, Any]:
        """Undo a decision, so that the row has what was found again. This is on disk when the
        method returns.

        row, version, author: As for `decide`.
        RETURNS (Dict[str, Any]): The row.
        RAISES (ConnormError): The errors of `decide`.
        """
        with self._changing, self._file.locked():
            mapping = self._file.require(row, version)
            self._file.change(row, take_back(mapping), self._ids.addresses_of)
            self._undo(mapping.correction, author)
            return self._view(row)

    def _find(self, concept: str) -> tuple[str, str, str]:
        """Find the concept that a person has chosen.

        RETURNS (Tuple[str, str, str]): Its id in the pipeline, its id as a CURIE, and its name.
        """
        if concept == NIL:
            return NIL, NO_TERM, ""
        store = self._pipeline.normalizer.lookup.index.store
        known = (one for one in concept_ids_of(concept) if store.number(one) is not None)
        found = self._pipeline.concept(next(known, concept))
        curie = concept_curie(found.concept_id, store.own_vocabulary)
        return found.concept_id, curie, found.canonical_name

    def _correct(self, term: str, kb_id: str, author: str) -> str:
        try:
            return self._pipeline.correct(term, 0, len(term), kb_id, author=author).id
        except ConnormError as error:
            # It has no visible character, or none that the encoder recognizes, so it is not a
            # synonym.
            if error.code in ("CN009", "CN755"):
                return ""
            raise

    def _undo(self, correction: str, author: str) -> None:
        # Already undone among the corrections, or stored in another file of corrections.
        if correction:
            with suppress(ConnormError):
                self._pipeline.undo(correction, author=author)

    def _view(self, row: int) -> dict[str, Any]:
        version, mapping = self._file.version(row), self._file.mappings[row]
        return {
            "row": row,
            "version": version,
            "code": mapping.subject_id,
            "term": mapping.subject_label,
            "context": mapping.context,
            "count": mapping.count,
            "status": mapping.status,
            "decided": mapping.is_decided,
            "predicate": mapping.predicate_id,
            "concept_id": "" if mapping.object_id == NO_TERM else mapping.object_id,
            "name": mapping.object_label,
            "confidence": mapping.confidence,
            "author": mapping.author_label or mapping.author_id,
            "date": str(mapping.mapping_date),
            "candidates": [
                {
                    "concept_id": candidate.object_id,
                    "name": candidate.label,
                    "confidence": candidate.confidence,
                }
                for candidate in mapping.candidates
            ],
        }


def _is_chosen(mapping: TermMapping, status: str) -> bool:
    if status == DECIDED:
        return mapping.is_decided
    if status == REVIEW:
        return mapping.status == REVIEW and not mapping.is_decided
    return status in (ALL, mapping.status)


_SECONDS_TO_WAIT = 10.0


class ReviewFile:
    """A file of mappings, which is written again with each decision. Threads must take turns;
    processes use a lock.
    """

    def __init__(self, path: str | Path) -> None:
        """Read a file.

        path (Union[str, Path]): A file written by `connorm map`, or other SSSOM.
        RAISES (ConnormError): The errors of `read_sssom`; CN708 for a file that is not a `.tsv`.
        """
        self.path = Path(path)
        require_ending(path, [".tsv"], action="review")
        self.revision = 0
        self._read = MappingSet({}, [])
        self._stamp: Stamp | None = None
        self.refresh()

    @property
    def mappings(self) -> list[TermMapping]:
        """The rows.

        RETURNS (List[TermMapping]): In the order of the file.
        """
        return self._read.mappings

    def refresh(self) -> None:
        """Read the file again if another process has written it.

        RAISES (ConnormError): The errors of `read_sssom`.
        """
        current = stamp(self.path) if self.path.is_file() else None
        if current is None or current != self._stamp:
            self._read, self._stamp = read_sssom(self.path), current
            self.revision += 1

    def version(self, row: int) -> str:
        """Compute the version of a row.

        RETURNS (str): A checksum of its content.
        RAISES (ConnormError): CN786 if there is no such row.
        """
        if not 0 <= row < len(self.mappings):
            raise Errors.CN786()
        mapping = self.mappings[row]
        cells = cells_of(mapping, [*COLUMNS, *mapping.others])
        return blake2b(json_line(cells).encode(), digest_size=8).hexdigest()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from deciding, and read what they have written.

        RAISES (ConnormError): CN109 if one of them does not finish, and the errors of `refresh`.
        """
        # Not the same lock as for writing the file.
        path = self.path.resolve().with_name(f"{self.path.name}.review")
        with only_writer(path, seconds=_SECONDS_TO_WAIT):
            self.refresh()
            yield

    def require(self, row: int, version: str) -> TermMapping:
        """Get a row if it has not changed since a person saw it.

        row (int): Its place, from 0.
        version (str): The result of `version` at that time.
        RETURNS (TermMapping): The row.
        RAISES (ConnormError): CN786 if there is none, CN787 if somebody has changed it since.
        """
        if self.version(row) != version:
            raise Errors.CN787()
        return self.mappings[row]

    def change(
        self, row: int, mapping: TermMapping, addresses: Callable[[list[str]], dict[str, str]]
    ) -> None:
        """Replace a row. It is on disk when this returns. Call it inside `locked`.

        row (int): Its place.
        mapping (TermMapping): The new content.
        addresses (Callable): Returns the IRIs of the prefixes of CURIEs.
        RAISES (ConnormError): CN108 or CN109 if the file can't be written. Nothing is changed then.
        """
        known = self._read.metadata.get("curie_map") or {}
        used = addresses([mapping.subject_id, mapping.object_id, mapping.author_id])
        metadata = {**self._read.metadata, "curie_map": {**known, **used, **known}}
        mappings = [*self.mappings[:row], mapping, *self.mappings[row + 1 :]]
        changed = MappingSet(metadata, mappings)
        write_sssom(changed, self.path)
        self._read, self._stamp = changed, stamp(self.path)
        self.revision += 1
