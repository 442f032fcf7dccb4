"""What people decide of mappings: rows of a file, and synonyms of the pipeline."""

import threading
from collections.abc import Callable, Iterator, Sequence
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
    render_metadata,
    render_row,
    write_lines,
)
from ..errors import ConnormError, Errors, require_choice, require_ending
from ..files.atomic import only_writer
from ..files.folders import Stamp, stamp
from ..workflows.corrected_pipeline import CorrectedPipeline
from ..workflows.mapping import (
    CLOSE,
    EXACT,
    PREDICATES,
    MappingIds,
    concept_ids_of,
    decide_mapping,
    summarize_mappings,
    take_back,
)

DECIDED, ALL = "decided", "all"
FILTERS = (*STATUSES, DECIDED, ALL)
# Only terms that mean the concept itself are its synonyms.
_SYNONYMOUS = (EXACT, CLOSE)


class MappingReview:
    """A file of mappings beside a corrected pipeline. Threads may share it.

    A decision is a correction of the pipeline, too, if the term means the concept itself, or none:
    then it is a synonym at once.
    """

    def __init__(self, pipeline: CorrectedPipeline, path: str | Path) -> None:
        """Read the file.

        pipeline (CorrectedPipeline): Knows the concepts, and learns from decisions.
        path (Union[str, Path]): What `connorm map` wrote.
        RAISES (ConnormError): As `ReviewFile`.
        """
        self._pipeline = pipeline
        self._file = ReviewFile(path)
        self._ids = MappingIds("local", {})
        self._changing = threading.RLock()

    @property
    def name(self) -> str:
        """The name of the file.

        RETURNS (str): The file's name.
        """
        return self._file.path.name

    def overview(self) -> dict[str, Any]:
        """Tell what is decided, and what is left.

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
        offset, limit (int): Which of them.
        RETURNS (Dict[str, Any]): How many there are, and the rows.
        """
        with self._changing:
            self._file.refresh()
            chosen = [
                (-each.count, row)
                for row, each in enumerate(self._file.mappings)
                if _is_chosen(each, status)
            ]
            places = [row for _, row in sorted(chosen)[offset : offset + limit]]
            return {"total": len(chosen), "rows": self._views(places)}

    def row(self, row: int) -> dict[str, Any]:
        """Read a row as it is now.

        RETURNS (Dict[str, Any]): A row as it is now.
        RAISES (ConnormError): CN786 if there is none.
        """
        with self._changing:
            self._file.refresh()
            if not 0 <= row < len(self._file.mappings):
                raise ConnormError(Errors.CN786)
            return self._views([row])[0]

    def decide(
        self, row: int, *, version: str, concept: str, predicate: str = EXACT, author: str = ""
    ) -> dict[str, Any]:
        """Say what a term means. It is in the file, on the disk, when this returns.

        row (int): The row's place in the file, from 0.
        version (str): What the row was when the person saw it; see `ReviewFile.version`.
        concept (str): A concept's id, also as a CURIE, or "NIL" for none.
        predicate (str): One of `PREDICATES`.
        author (str): Who says so.
        RETURNS (Dict[str, Any]): The row.
        RAISES (ConnormError): CN006 for an author with `|`, CN411 for an unknown concept, CN786 and
            CN787 as `ReviewFile.require`, CN118 for another predicate, CN108 or CN109 if a file
            can't be written.
        """
        require_choice("predicate", predicate, PREDICATES)
        is_none = concept == NIL
        found = None if is_none else self._pipeline.concept(self._known_id(concept))
        with self._changing, self._file.locked():
            mapping = self._file.require(row, version)
            decided = decide_mapping(
                mapping,
                object_id=NO_TERM if found is None else self._ids.concept(found.concept_id),
                object_label="" if found is None else found.canonical_name,
                predicate_id=predicate,
                author=author,
            )
            says = NIL if found is None else found.concept_id
            is_synonym = is_none or predicate in _SYNONYMOUS
            made = self._correct(mapping.subject_label, says, author) if is_synonym else ""
            decided = replace(decided, correction=made)
            try:
                self._file.change(row, decided, self._ids.addresses_of)
            except BaseException:
                self._undo(made, author)
                raise
            self._undo(mapping.correction, author)
            return self._views([row])[0]

    def undo(self, row: int, *, version: str, author: str = "") -> dict[str, Any]:
        """Take a decision back: the row says again what was found. It is on the disk when this
        returns.

        row, version, author: As for `decide`.
        RETURNS (Dict[str, Any]): The row.
        RAISES (ConnormError): As `decide`.
        """
        with self._changing, self._file.locked():
            mapping = self._file.require(row, version)
            self._file.change(row, take_back(mapping), self._ids.addresses_of)
            self._undo(mapping.correction, author)
            return self._views([row])[0]

    def _correct(self, term: str, kb_id: str, author: str) -> str:
        try:
            return self._pipeline.correct(term, 0, len(term), kb_id, author=author).id
        except ConnormError as error:
            # No visible character that the pipeline or its encoder knows: no synonym.
            if error.code in ("CN009", "CN755"):
                return ""
            raise

    def _undo(self, correction: str, author: str) -> None:
        # Undone on the page of corrections, or in another file of corrections.
        if correction:
            with suppress(ConnormError):
                self._pipeline.undo(correction, author=author)

    def _known_id(self, concept: str) -> str:
        number = self._pipeline.normalizer.lookup.index.store.number
        return next((each for each in concept_ids_of(concept) if number(each) is not None), concept)

    def _views(self, places: Sequence[int]) -> list[dict[str, Any]]:
        return [self._view(row, self._file.mappings[row]) for row in places]

    def _view(self, row: int, mapping: TermMapping) -> dict[str, Any]:
        return {
            "row": row,
            "version": self._file.version(row),
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
                {"concept_id": each.object_id, "name": each.label, "confidence": each.confidence}
                for each in mapping.candidates
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
    """Holds SSSOM and its rendered lines: a decision changes one line, and writing the file costs
    little even for very many. Threads must take turns; processes do so by a lock.
    """

    def __init__(self, path: str | Path) -> None:
        """Read a file.

        path (Union[str, Path]): What `connorm map` wrote, or SSSOM of others.
        RAISES (ConnormError): As `read_sssom`; CN708 for a file that is no `.tsv`.
        """
        self.path = Path(path)
        require_ending(path, [".tsv"], action="review")
        self.revision = 0
        self._found = MappingSet({}, [])
        self._columns: list[str] = []
        self._head = ""
        self._lines: list[str] = []
        self._stamp: Stamp | None = None
        self.refresh()

    @property
    def mappings(self) -> list[TermMapping]:
        """The rows of the file.

        RETURNS (List[TermMapping]): The rows.
        """
        return self._found.mappings

    def refresh(self) -> None:
        """Read the file again if anybody else has written it.

        RAISES (ConnormError): As `read_sssom`.
        """
        found = stamp(self.path) if self.path.is_file() else None
        if found is None or found != self._stamp:
            self._take(read_sssom(self.path))
            self._stamp = found

    def version(self, row: int) -> str:
        """Tell the version of a row.

        RETURNS (str): A checksum of a row.
        """
        return blake2b(self._lines[row].encode(), digest_size=8).hexdigest()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from deciding; then what they have written is read.

        RAISES (ConnormError): CN109 if one of them does not finish, and as `refresh`.
        """
        # Not the lock of whoever writes the file.
        path = self.path.resolve().with_name(f"{self.path.name}.review")
        with only_writer(path, seconds=_SECONDS_TO_WAIT):
            self.refresh()
            yield

    def require(self, row: int, version: str) -> TermMapping:
        """Find a row that is as a person has seen it.

        row (int): Its place, from 0.
        version (str): From `version`, when the person saw it.
        RETURNS (TermMapping): The row.
        RAISES (ConnormError): CN786 if there is none, CN787 if somebody has changed it since.
        """
        if not 0 <= row < len(self.mappings):
            raise ConnormError(Errors.CN786)
        if self.version(row) != version:
            raise ConnormError(Errors.CN787)
        return self.mappings[row]

    def change(
        self, row: int, mapping: TermMapping, addresses: Callable[[list[str]], dict[str, str]]
    ) -> None:
        """Replace a row. It is on the disk when this returns. Call it `locked`.

        row (int): Its place.
        mapping (TermMapping): What it shall be.
        addresses (Callable): Gives the addresses of the prefixes of CURIEs.
        RAISES (ConnormError): CN108 or CN109 if the file can't be written. Nothing is changed then.
        """
        known = self._found.metadata.get("curie_map") or {}
        own = addresses([mapping.subject_id, mapping.object_id, mapping.author_id])
        metadata = {**self._found.metadata, "curie_map": {**own, **known}}
        head = self._head if own.keys() <= known.keys() else render_metadata(metadata)
        lines = list(self._lines)
        lines[row] = self._line(mapping)
        write_lines(self.path, [head, render_row(self._columns), *lines])
        self._stamp = stamp(self.path)
        self._head, self._lines = head, lines
        self._found.metadata = metadata
        self._found.mappings[row] = mapping
        self.revision += 1

    def _take(self, found: MappingSet) -> None:
        names: dict[str, Any] = {name: None for each in found.mappings for name in each.others}
        self._columns = [*COLUMNS, *names]
        self._head = render_metadata(found.metadata)
        self._found = found
        self._lines = [self._line(each) for each in found.mappings]
        self.revision += 1

    def _line(self, mapping: TermMapping) -> str:
        return render_row(cells_of(mapping, self._columns))
