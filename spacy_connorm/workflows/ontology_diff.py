"""Compare two releases of an ontology: `connorm ontology diff`."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from ..concepts import Ontology
from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.overlap import require_apart, require_distinct_outputs
from ..files.text import open_text
from ..ontology import ReadReport, stream_ontology
from ..ontology.differences import KINDS, Change, Successors, find_changes
from .moving import LeftSynonym, MovedSynonyms, move_synonyms

_LEFT = "synonym left"
_COLUMNS = ("kind", "concept_id", "name", "before", "after", "reason")
_SEPARATOR = "|"


class OntologyDiff(NamedTuple):
    """What differs between two releases of an ontology.

    changes (Tuple[Change, ...]): The differences, by kind.
    concepts (Tuple[int, int]): How many concepts each release has.
    synonyms (Optional[MovedSynonyms]): What became of the synonyms, if any were given.
    """

    changes: tuple[Change, ...]
    concepts: tuple[int, int]
    synonyms: MovedSynonyms | None = None

    @property
    def counts(self) -> dict[str, int]:
        """RETURNS (Dict[str, int]): How many changes there are of each of `KINDS`."""
        found = Counter(each.kind for each in self.changes)
        return {kind: found[kind] for kind in KINDS}


def diff_ontologies(
    old: str | Path | Ontology,
    new: str | Path | Ontology,
    *,
    format: str | None = None,
    synonyms: str | Path | None = None,
    moved: str | Path | None = None,
    json_path: str | Path | None = None,
    tsv_path: str | Path | None = None,
) -> OntologyDiff:
    """Compare two releases of an ontology, and move synonyms or corrections to the ids of the new
    one: `python -m spacy connorm ontology diff`. What replaced a retired concept is told by
    alternate ids, and by `replaced_by` and `consider` of OBO files, so give the OBO file itself.

    old (Union[str, Path, Ontology]): The old release, in any of `FORMATS`.
    new (Union[str, Path, Ontology]): The new release.
    format (Optional[str]): The format of both; detected from each file if None.
    synonyms (Optional[Union[str, Path]]): A table of synonyms (a text, a tab, a concept id), or the
        corrections of `connorm serve` (`.jsonl`).
    moved (Optional[Union[str, Path]]): Where to write them with the ids of the new release.
    json_path (Optional[Union[str, Path]]): Write all changes as JSON.
    tsv_path (Optional[Union[str, Path]]): Write all changes as a table.
    RETURNS (OntologyDiff): The changes, and what became of the synonyms.
    RAISES (ConnormError): CN121 if an output would replace an input, CN124 if two
        outputs have the same name, CN733 for `moved` without
        `synonyms`, CN105 or CN108 if an output can't be written, CN712 and CN752 for bad synonyms
        and corrections, and the errors of `stream_ontology`.
    """
    if moved is not None and synonyms is None:
        raise ConnormError(Errors.CN733.format(option="--moved", needed="`--synonyms`"))
    outputs = (moved, json_path, tsv_path)
    for output in outputs:
        require_apart(output, old, new, synonyms)
    require_distinct_outputs(*outputs)
    report = ReadReport()
    before = _read(old, format, ReadReport())
    after = _read(new, format, report)
    successors = Successors(before, after, report.retired)
    changes = tuple(find_changes(before, after, successors))
    found = None if synonyms is None else move_synonyms(synonyms, successors, moved)
    diff = OntologyDiff(changes, (len(before), len(after)), found)
    if json_path is not None:
        _write(json_path, _to_json(diff))
    if tsv_path is not None:
        _write(tsv_path, _to_tsv(diff))
    return diff


def _read(source: str | Path | Ontology, format: str | None, report: ReadReport) -> Ontology:
    if isinstance(source, Ontology):
        return source
    concepts = stream_ontology(source, format=format, report=report)
    name = f"Reading {Path(source).name}"
    with tqdm(concepts, name, unit=" concepts", delay=2, leave=False, disable=None) as bar:
        return Ontology(bar)


def _write(path: str | Path, content: str) -> None:
    with atomic_file(path) as aside, open_text(aside, "wt") as file:
        file.write(content)


def _to_json(diff: OntologyDiff) -> str:
    synonyms = diff.synonyms
    record = {
        "concepts": {"old": diff.concepts[0], "new": diff.concepts[1]},
        "counts": diff.counts,
        "changes": [each._asdict() for each in diff.changes],
        "synonyms": synonyms
        and {**synonyms._asdict(), "left": [each._asdict() for each in synonyms.left]},
    }
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _to_tsv(diff: OntologyDiff) -> str:
    left = diff.synonyms.left if diff.synonyms else ()
    rows = [_COLUMNS, *map(_change_row, diff.changes), *map(_left_row, left)]
    return "".join("\t".join(map(_cell, row)) + "\n" for row in rows)


def _change_row(change: Change) -> Iterable[str]:
    kind, concept_id, name, before, after, reason = change
    return kind, concept_id, name, _SEPARATOR.join(before), _SEPARATOR.join(after), reason


def _left_row(left: LeftSynonym) -> Iterable[str]:
    text, concept_id, reason, proposed = left
    return _LEFT, concept_id, text, "", _SEPARATOR.join(proposed), reason


def _cell(text: str) -> str:
    return " ".join(text.split())
