"""Compare two releases of an ontology, and move synonyms: `connorm ontology diff`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..concepts import NIL, Ontology
from ..documents.mentions import split_ids
from ..errors import Errors
from ..files.atomic import require_apart, require_distinct_outputs, write_text
from ..files.progress import progress_bar
from ..files.text import existing_file
from ..linker.synonym_changes import ChangedSynonym, read_synonyms, write_synonyms
from ..ontology import ReadReport, stream_ontology
from ..ontology.differences import KINDS, Change, Successors, find_changes
from .corrections import Correction, CorrectionRecord, CorrectionsFile, effective, to_line

_CORRECTIONS = ".jsonl"


class LeftSynonym(NamedTuple):
    """A synonym or correction for which the new release does not name a concept.

    text (str): The text.
    concept_id (str): The concept that it denotes; ids joined by `|` in a correction of a composite.
    reason (str): See `Successor`.
    proposed (Tuple[str, ...]): Possible ids.
    """

    text: str
    concept_id: str
    reason: str
    proposed: tuple[str, ...] = ()


class MovedSynonyms(NamedTuple):
    """Synonyms or corrections for a new release.

    kept (int): The number with the same id.
    moved (int): The number with a new id.
    left (Tuple[LeftSynonym, ...]): Those for which the release does not name a concept.
    """

    kept: int
    moved: int
    left: tuple[LeftSynonym, ...]


def _move_table(
    path: str | Path, successors: Successors, output_path: str | Path | None
) -> MovedSynonyms:
    """Move a table of synonyms. Those with unknown concepts are left out of the new one."""
    kept, moved, left = 0, 0, list[LeftSynonym]()
    times = Counter[tuple[str, str]]()
    for text, concept_id, count in read_synonyms(path):
        now = successors.find(concept_id)
        if not now.concept_id:
            left.append(LeftSynonym(text, concept_id, now.reason, now.proposed))
            continue
        kept += now.concept_id == concept_id
        moved += now.concept_id != concept_id
        # Counts are added where two old ids have become one.
        times[text, now.concept_id] += count
    if output_path is not None:
        write_synonyms(output_path, [ChangedSynonym(*pair, n) for pair, n in times.items()])
    return MovedSynonyms(kept, moved, tuple(left))


def _move_corrections(
    path: str | Path, successors: Successors, output_path: str | Path | None
) -> MovedSynonyms:
    """Move corrections. Those with unknown concepts are kept in the file, without effect."""
    records = CorrectionsFile(existing_file(path)).read()
    moved = [_moved_record(record, successors) for record in records]
    if output_path is not None:
        write_text(output_path, "".join(f"{to_line(record)}\n" for record in moved))
    before, after = effective(records), effective(moved)
    left = tuple(_left_corrections(before, successors))
    changed = sum(one.kb_id != other.kb_id for one, other in zip(before, after, strict=True))
    return MovedSynonyms(len(before) - changed - len(left), changed, left)


def _moved_record(record: CorrectionRecord, successors: Successors) -> CorrectionRecord:
    if not isinstance(record, Correction):
        return record
    ids = [successors.find(concept_id).concept_id for concept_id in split_ids(record.kb_id)]
    if not all(ids):
        return record
    return replace(record, kb_id="|".join(dict.fromkeys(ids)) or NIL)


def _left_corrections(
    corrections: Iterable[Correction], successors: Successors
) -> Iterator[LeftSynonym]:
    for correction in corrections:
        after = [successors.find(concept_id) for concept_id in split_ids(correction.kb_id)]
        missing = [now for now in after if not now.concept_id]
        if missing:
            proposed = tuple(chain.from_iterable(now.proposed for now in missing))
            yield LeftSynonym(correction.mention, correction.kb_id, missing[0].reason, proposed)


_LEFT = "synonym left"
_SEPARATOR = "|"


class OntologyDiff(NamedTuple):
    """The differences between two releases of an ontology.

    changes (Tuple[Change, ...]): The differences, by kind.
    concepts (Tuple[int, int]): The number of concepts in each release.
    synonyms (Optional[MovedSynonyms]): The result for the synonyms, if any were given.
    """

    changes: tuple[Change, ...]
    concepts: tuple[int, int]
    synonyms: MovedSynonyms | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of changes by kind.

        RETURNS (Dict[str, int]): For each of `KINDS`.
        """
        times = Counter(change.kind for change in self.changes)
        return {kind: times[kind] for kind in KINDS}


def diff_ontologies(
    old: str | Path | Ontology,
    new: str | Path | Ontology,
    *,
    format: str | None = None,
    synonyms: str | Path | None = None,
    moved: str | Path | None = None,
    tsv_path: str | Path | None = None,
) -> OntologyDiff:
    """Compare two releases of an ontology, and move synonyms or corrections to the ids of the new
    one: `connorm ontology diff`. Replacements of retired concepts come from
    alternate ids, and from `replaced_by` and `consider` in OBO files, so pass the OBO file itself.

    old (Union[str, Path, Ontology]): The old release, in any format.
    new (Union[str, Path, Ontology]): The new release.
    format (Optional[str]): The format of both; detected from each file if None.
    synonyms (Optional[Union[str, Path]]): A table of synonyms (a text, a tab, a concept id), or the
        corrections of `connorm serve` (`.jsonl`).
    moved (Optional[Union[str, Path]]): The file to write them to, with the ids of the new release.
    tsv_path (Optional[Union[str, Path]]): Write all changes as a table.
    RETURNS (OntologyDiff): The changes, and the result for the synonyms.
    RAISES (ConnormError): CN121 if an output would replace an input, CN124 if two outputs have the
        same name, CN733 for `moved` without `synonyms`, CN105 or CN108 if an output can't be
        written, CN115 for invalid synonyms or corrections, and the errors of `stream_ontology`.
    """
    if moved is not None and synonyms is None:
        raise Errors.CN733(option="--moved", needed="`--synonyms`")
    outputs = (moved, tsv_path)
    for output in outputs:
        require_apart(output, old, new, synonyms)
    require_distinct_outputs(*outputs)
    report = ReadReport()
    before = _read(old, format, ReadReport())
    after = _read(new, format, report)
    successors = Successors(before, after, report.retired)
    changes = tuple(find_changes(before, after, successors))
    moved_synonyms = None
    if synonyms is not None:
        move = _move_corrections if Path(synonyms).suffix == _CORRECTIONS else _move_table
        moved_synonyms = move(synonyms, successors, moved)
    diff = OntologyDiff(changes, (len(before), len(after)), moved_synonyms)
    if tsv_path is not None:
        write_text(tsv_path, _to_tsv(diff))
    return diff


def _read(source: str | Path | Ontology, format: str | None, report: ReadReport) -> Ontology:
    if isinstance(source, Ontology):
        return source
    concepts = stream_ontology(source, format=format, report=report)
    name = f"Reading {Path(source).name}"
    with progress_bar(concepts, unit="concepts", description=name) as bar:
        return Ontology(bar)


def _to_tsv(diff: OntologyDiff) -> str:
    left = [
        Change(_LEFT, concept_id, text, after=proposed, reason=reason)
        for text, concept_id, reason, proposed in (diff.synonyms.left if diff.synonyms else ())
    ]
    rows = [Change._fields, *map(_cells, (*diff.changes, *left))]
    return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)


def _cells(change: Change) -> list[str]:
    return [_SEPARATOR.join(value) if isinstance(value, tuple) else value for value in change]
