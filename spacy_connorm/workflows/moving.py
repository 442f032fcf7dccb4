"""Move users' synonyms and corrections to the ids of a new release."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..concepts import NIL
from ..documents.mentions import split_ids
from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.text import open_text
from ..ontology.differences import Successor, Successors
from ..pipeline.synonym_files import read_synonyms, write_synonyms
from . import Correction, CorrectionsFile
from .corrections import CorrectionRecord, effective, to_line

if TYPE_CHECKING:
    from ..linker.synonyms import ChangedSynonym

_CORRECTIONS = (".jsonl",)


class LeftSynonym(NamedTuple):
    """A synonym or correction whose concept the new release does not name.

    text (str): The text.
    concept_id (str): What it denotes; ids joined by `|` in a correction of a composite.
    reason (str): See `Successor`.
    proposed (Tuple[str, ...]): Ids that may fit.
    """

    text: str
    concept_id: str
    reason: str
    proposed: tuple[str, ...] = ()


class MovedSynonyms(NamedTuple):
    """Synonyms or corrections for a new release.

    kept (int): How many denote what they did.
    moved (int): How many have another id.
    left (Tuple[LeftSynonym, ...]): Those whose concept the release does not name.
    """

    kept: int
    moved: int
    left: tuple[LeftSynonym, ...]


def move_synonyms(
    path: str | Path, successors: Successors, output_path: str | Path | None
) -> MovedSynonyms:
    """Move a table of synonyms, or a file of corrections, to the ids of a new release.

    path (Union[str, Path]): The table, as `read_synonyms` reads it, or the `.jsonl` file that
        `connorm serve` appends to.
    successors (Successors): The ids of the new release.
    output_path (Optional[Union[str, Path]]): The file to write, in the same format. A table has no
        synonyms whose concept is not known; corrections stay as they are, and wait.
    RETURNS (MovedSynonyms): How many were kept and moved, and which were left.
    RAISES (ConnormError): CN100 for a missing file, CN105 or CN108 if the output can't be written,
        CN712 and CN752 for a damaged file.
    """
    if Path(path).suffix in _CORRECTIONS:
        return _move_corrections(Path(path), successors, output_path)
    return _move_table(path, successors, output_path)


def _move_table(
    path: str | Path, successors: Successors, output_path: str | Path | None
) -> MovedSynonyms:
    synonyms = list(read_synonyms(path))
    found = [successors.find(each.concept_id) for each in synonyms]
    both = list(zip(synonyms, found, strict=True))
    if output_path is not None:
        write_synonyms(output_path, _merged(both))
    left = tuple(
        LeftSynonym(each.text, each.concept_id, now.reason, now.proposed)
        for each, now in both
        if not now.concept_id
    )
    kept = sum(each.concept_id == now.concept_id for each, now in both)
    return MovedSynonyms(kept, len(both) - kept - len(left), left)


def _merged(
    synonyms: Iterable[tuple["ChangedSynonym", Successor]],
) -> "list[ChangedSynonym]":
    """Two ids of the old release may be one now: then both count."""
    from ..linker.synonyms import ChangedSynonym

    times: Counter[tuple[str, str]] = Counter()
    for each, now in synonyms:
        if now.concept_id:
            times[each.text, now.concept_id] += each.times
    return [ChangedSynonym(*pair, count) for pair, count in times.items()]


def _move_corrections(
    path: Path, successors: Successors, output_path: str | Path | None
) -> MovedSynonyms:
    if not path.exists():
        raise ConnormError(Errors.CN100.format(path=path))
    records = CorrectionsFile(path).read()
    moved = [_moved_record(each, successors) for each in records]
    if output_path is not None:
        with atomic_file(output_path) as aside, open_text(aside, "wt") as file:
            file.writelines(f"{to_line(each)}\n" for each in moved)
    before, after = effective(records), effective(moved)
    left = tuple(_left_corrections(before, successors))
    changed = sum(one.kb_id != other.kb_id for one, other in zip(before, after, strict=True))
    return MovedSynonyms(len(before) - changed - len(left), changed, left)


def _moved_record(record: CorrectionRecord, successors: Successors) -> CorrectionRecord:
    if not isinstance(record, Correction):
        return record
    ids = {each: successors.find(each).concept_id for each in split_ids(record.kb_id)}
    if not all(ids.values()):
        return record
    return replace(record, kb_id="|".join(dict.fromkeys(ids.values())) or NIL)


def _left_corrections(
    corrections: Iterable[Correction], successors: Successors
) -> Iterator[LeftSynonym]:
    for each in corrections:
        found = [successors.find(concept_id) for concept_id in split_ids(each.kb_id)]
        missing = [now for now in found if not now.concept_id]
        if missing:
            proposed = tuple(chain.from_iterable(now.proposed for now in missing))
            yield LeftSynonym(each.mention, each.kb_id, missing[0].reason, proposed)
