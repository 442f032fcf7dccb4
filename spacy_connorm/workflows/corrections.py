"""Corrections that people make to mentions, in a file and as annotated data."""

import json
import os
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeAlias

from pydantic import StrictBool, StrictInt, TypeAdapter
from spacy.language import Language
from spacy.tokens import Doc

from ..concepts import NIL
from ..documents.docbin import write_docs
from ..documents.document import CorpusReport, Document, make_doc
from ..documents.mentions import JOINS, Mention, split_ids
from ..documents.reading import blank_pipeline
from ..errors import ConnormError, Errors, refuse_text, require_ending, unreadable
from ..files.atomic import only_writer, require_apart, sync, write_errors, write_text
from ..files.text import existing_file, find_ending
from ..linker.synonym_changes import ChangedSynonym, write_synonyms


def _new_id() -> str:
    return secrets.token_hex(8)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def require_ids(kb_id: str) -> None:
    """Refuse a value that is neither concept ids nor "NIL".

    kb_id (str): Ids in the form of a correction.
    RAISES (ConnormError): CN006 for only spaces and separators, and for "NIL" together with ids.
    """
    said = [part for part in JOINS.split(kb_id) if part.strip()]
    are_ids = {bool(split_ids(part)) for part in said}
    if len(are_ids) != 1:
        refuse_text("kb_id", kb_id, 'a concept id, ids joined by `|`, or "NIL"')


@dataclass(frozen=True, slots=True)
class Correction:
    """A person's decision about what a mention denotes.

    text (str): The text around the mention.
    start (int): Its first character.
    end (int): The character after it.
    kb_id (str): The concept id, "NIL" for none, ids joined by `|` for a composite.
    label (str): The entity type.
    long_form (str): Its long form, if its text defines one.
    marked (bool): Whether somebody set its boundaries, because the pipeline had not found it like
        this.
    replaces (Optional[Tuple[int, int]]): The boundaries that the pipeline had found instead.
    author (str): Who made the correction; may be empty.
    time (str): When it was made, ISO 8601, UTC.
    id (str): The id of the correction.
    """

    text: str
    start: StrictInt
    end: StrictInt
    kb_id: str
    label: str = ""
    long_form: str = ""
    marked: StrictBool = False
    replaces: tuple[StrictInt, StrictInt] | None = None
    author: str = ""
    time: str = field(default_factory=_now)
    id: str = field(default_factory=_new_id)

    @property
    def mention(self) -> str:
        """The text of the mention.

        RETURNS (str): Without the text around it.
        """
        return self.text[self.start : self.end]

    @property
    def searched(self) -> str:
        """The text that is searched for the mention.

        RETURNS (str): The mention, or its long form if its text defines one.
        """
        return self.long_form or self.mention

    @property
    def synonyms(self) -> list[tuple[str, str]]:
        """The synonyms that it adds to D.

        RETURNS (List[Tuple[str, str]]): The searched text with each of its concept ids. Empty for
            "NIL".
        """
        return [(self.searched, concept_id) for concept_id in split_ids(self.kb_id)]


@dataclass(frozen=True, slots=True)
class Undo:
    """Undoes a correction.

    undoes (str): The id of the correction.
    author (str): Who undid it; may be empty.
    time (str): When it was undone, ISO 8601, UTC.
    id (str): The id of this record.
    """

    undoes: str
    author: str = ""
    time: str = field(default_factory=_now)
    id: str = field(default_factory=_new_id)


CorrectionRecord: TypeAlias = Correction | Undo


def to_line(record: CorrectionRecord) -> str:
    """Convert a record to a line of the file.

    RETURNS (str): One line of JSON, without a line end.
    """
    return json.dumps(asdict(record), ensure_ascii=False)


_CORRECTION, _UNDO = TypeAdapter(Correction), TypeAdapter(Undo)
_MADE = {"time", "id"}  # for a new record; a line must have them


def from_line(line: str) -> CorrectionRecord:
    """Parse a line written by `to_line`; unknown fields are ignored.

    line (str): One line of JSON.
    RETURNS (CorrectionRecord): A correction or an undo.
    RAISES (ValueError): For anything else.
    """
    read = json.loads(line)
    if not isinstance(read, dict) or not read.keys() >= _MADE:
        raise ValueError("not an object with an id and a time")
    if "undoes" in read:
        return _UNDO.validate_python(read)
    record = _CORRECTION.validate_python(read)
    if not 0 <= record.start < record.end <= len(record.text):
        raise ValueError("no such characters")
    return record


def effective(records: Iterable[CorrectionRecord]) -> list[Correction]:
    """Select the corrections that apply: not undone, and without a later one for the same
    characters of the same text.

    records (Iterable[CorrectionRecord]): All records, in the order of the file.
    RETURNS (List[Correction]): In the order of the file.
    """
    records = list(records)
    undone = {record.undoes for record in records if isinstance(record, Undo)}
    last: dict[tuple[str, int, int], Correction] = {}
    for record in records:
        if isinstance(record, Correction) and record.id not in undone:
            place = (record.text, record.start, record.end)
            last.pop(place, None)
            last[place] = record
    return list(last.values())


_SECONDS_TO_WAIT = 10.0
_FORMAT = "a correction, as written by `connorm serve`"


class CorrectionsFile:
    """Reads appended records, and appends new ones. Threads must take turns; processes use a
    lock.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a file; the first record creates it. Its folder is created if missing.

        path (Union[str, Path]): The file.
        RAISES (ConnormError): CN105 for a folder, CN108 if its folder can't be created.
        """
        self.path = Path(path)
        if self.path.is_dir():
            raise Errors.CN105(path=self.path)
        self._read_to = 0
        self._lines = 0
        self._is_line_open = False
        with write_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path = self.path.resolve()

    def require_writable(self) -> None:
        """Check that records can be appended: better told now than with the first correction.

        RAISES (ConnormError): CN108 if not.
        """
        with write_errors(self.path):
            if self.path.exists():
                os.close(os.open(self.path, os.O_RDWR))
            else:
                TemporaryFile(dir=self.path.parent).close()

    def locked(self) -> AbstractContextManager[None]:
        """Lock the file.

        RETURNS (ContextManager): Keeps other processes from appending, after waiting for them.
        RAISES (ConnormError): CN109 if one of them does not finish.
        """
        return only_writer(self.path, seconds=_SECONDS_TO_WAIT)

    def has_more(self) -> bool:
        """Check for new records.

        RETURNS (bool): Whether anything was appended since the last `read`.
        """
        with write_errors(self.path):
            return self._size() != self._read_to

    def read(self) -> list[CorrectionRecord]:
        """Read the records appended since the last call. An incomplete last line is left for later:
        somebody is writing it, or was killed before it was acknowledged.

        RETURNS (List[CorrectionRecord]): The records, in order.
        RAISES (ConnormError): CN108 if the file can't be read, CN115 for a line that is not a
            record, and for a file that became shorter.
        """
        with write_errors(self.path):
            size = self._size()
            if size < self._read_to:
                raise unreadable(self.path, 1, _FORMAT, "it became shorter while it was in use")
            if not size:
                return []
            with self.path.open("rb") as file:
                file.seek(self._read_to)
                content = file.read()
        *lines, last = content.split(b"\n")
        records = []
        for number, line in enumerate(lines, start=self._lines + 1):
            if line.strip():
                records.append(self._parse(line, number))
        self._read_to += len(content) - len(last)
        self._lines += len(lines)
        if lines:
            self._is_line_open = False
        if last:
            with suppress(ConnormError):
                records.append(self._parse(last, self._lines + 1))
                self._read_to += len(last)
                self._is_line_open = True
        return records

    def append(self, record: CorrectionRecord) -> None:
        """Append a record. It is on disk when this returns. Call it inside `locked`, after `read`.

        record (CorrectionRecord): The record.
        RAISES (ConnormError): CN108 if the disk is full or refuses the record. The file does not
            change then.
        """
        line = to_line(record).encode("utf-8", "surrogatepass") + b"\n"
        with write_errors(self.path):
            is_new = not self.path.exists()
            flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
            descriptor = os.open(self.path, flags, 0o600)
            if is_new:
                sync(self.path.parent)
            try:
                # A partial line left by a killed writer was never acknowledged.
                os.ftruncate(descriptor, self._read_to)
                try:
                    if self._is_line_open:
                        line = b"\n" + line
                    _write_all(descriptor, line)
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, self._read_to)
                    raise
            finally:
                os.close(descriptor)
        self._read_to += len(line)
        self._lines += line.count(b"\n")
        self._is_line_open = False

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _parse(self, line: bytes, number: int) -> CorrectionRecord:
        try:
            return from_line(line.decode("utf-8", "surrogatepass"))
        except (ValueError, TypeError, LookupError, RecursionError):
            raise unreadable(self.path, number, _FORMAT, "it is none") from None


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


@dataclass(frozen=True, slots=True)
class CorrectionConflict:
    """A text that was given different concepts.

    mention (str): The text: a mention, or its long form.
    kb_ids (Tuple[str, ...]): Concept ids, or "NIL"; the last choice comes last.
    authors (Tuple[str, ...]): Who chose each.
    """

    mention: str
    kb_ids: tuple[str, ...]
    authors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorrectionReport:
    """The content of a file of corrections.

    records (int): Corrections and undos.
    corrections (int): Corrections that apply: not undone, not replaced by a later one.
    without_concept (int): How many of these are "NIL". They are not in tables of synonyms.
    texts (int): The number of texts with corrections.
    conflicts (Tuple[CorrectionConflict, ...]): Texts with different concepts.
    """

    records: int
    corrections: int
    without_concept: int
    texts: int
    conflicts: tuple[CorrectionConflict, ...]

    @classmethod
    def of(cls, records: Sequence[CorrectionRecord]) -> "CorrectionReport":
        """Count records.

        records (Sequence[Union[Correction, Undo]]): All records of a file.
        RETURNS (CorrectionReport): Counts and conflicts.
        """
        corrections = effective(records)
        return cls(
            records=len(records),
            corrections=len(corrections),
            without_concept=sum(correction.kb_id == NIL for correction in corrections),
            texts=len({correction.text for correction in corrections}),
            conflicts=tuple(_conflicts(corrections)),
        )


def convert_corrections(
    path: str | Path, output_path: str | Path | None = None, *, lang: str = "en"
) -> CorrectionReport:
    """Turn corrections into annotated data, D: `connorm corrections`.

    path (Union[str, Path]): The file that `serve` appends to.
    output_path (Optional[Union[str, Path]]): A `.tsv` file for the `synonyms` of `build_index`,
        with the last concept of each text; a `.txt` file for the `stop_list` of `mention_finder`,
        with the texts whose last correction gives no concept; or a `.spacy` file for `corpora` and
        for training, with all mentions as people have corrected them. If None, only the report is
        made.
    lang (str): The language of the texts, for the tokenizer of `.spacy` files.
    RETURNS (CorrectionReport): Counts and conflicts.
    RAISES (ConnormError): CN100 for a missing file, CN121 if it would be replaced, CN708 for
        another extension, CN115 for a damaged file, CN213 for an unknown language, CN105 or CN108
        if the output can't be written.
    """
    path = existing_file(path)
    if output_path is not None:
        require_apart(output_path, path)
        require_ending(output_path, _WRITERS)
    records = CorrectionsFile(path).read()
    if output_path is not None:
        _WRITERS[find_ending(output_path)](effective(records), Path(output_path), lang)
    return CorrectionReport.of(records)


def _write_table(corrections: Sequence[Correction], path: Path, lang: str) -> None:
    """Write the synonyms that agree with the last correction of their text, which gives the
    server's answer.
    """
    last = {_key(correction): correction.kb_id for correction in corrections}
    counts = Counter(
        (" ".join(text.split()), concept_id)
        for correction in corrections
        if correction.kb_id == last[_key(correction)]
        for text, concept_id in correction.synonyms
    )
    write_synonyms(path, [ChangedSynonym(*pair, times) for pair, times in counts.items()])


def _write_docs(corrections: Sequence[Correction], path: Path, lang: str) -> None:
    write_docs(_docs(corrections, blank_pipeline(lang)), path)


def _write_stop_list(corrections: Sequence[Correction], path: Path, lang: str) -> None:
    """Write the texts whose last correction gives no concept, sorted."""
    last = {_key(correction): correction for correction in corrections}
    without = [correction.searched for correction in last.values() if correction.kb_id == NIL]
    texts = sorted(" ".join(text.split()) for text in without)
    write_text(path, "".join(f"{text}\n" for text in texts))


_WRITERS = {".tsv": _write_table, ".spacy": _write_docs, ".txt": _write_stop_list}


def _key(correction: Correction) -> str:
    return " ".join(correction.searched.lower().split())


def _conflicts(corrections: Iterable[Correction]) -> Iterator[CorrectionConflict]:
    by_text: dict[str, dict[str, Correction]] = defaultdict(dict)
    for correction in corrections:
        chosen = by_text[_key(correction)]
        chosen.pop(correction.kb_id, None)
        chosen[correction.kb_id] = correction  # the last one with this concept
    for chosen in by_text.values():
        if len(chosen) > 1:
            *_, last = chosen.values()
            authors = tuple([correction.author for correction in chosen.values()])
            yield CorrectionConflict(last.searched, tuple(chosen), authors)


def _docs(corrections: Iterable[Correction], nlp: Language) -> Iterator[Doc]:
    in_order = sorted(corrections, key=attrgetter("text", "start", "end"))
    for text, alike in groupby(in_order, key=attrgetter("text")):
        mentions = tuple(
            Mention(said.mention, said.label, said.kb_id, ((said.start, said.end),))
            for said in alike
        )
        yield make_doc(Document("", text, mentions), nlp=nlp, report=CorpusReport())
