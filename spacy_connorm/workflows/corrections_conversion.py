"""Corrections as annotated data: synonyms in a table, annotated documents, or a stop list."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..concepts import NIL
from ..documents.mentions import MENTIONS_KEY, Mention, set_mentions
from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.docbin import write_docs
from ..files.overlap import require_apart
from ..pipeline.synonym_files import write_synonyms
from .corrections import Correction, effective
from .corrections_file import CorrectionsFile

if TYPE_CHECKING:
    from ..linker.synonyms import ChangedSynonym


@dataclass(frozen=True, slots=True)
class CorrectionConflict:
    """One text that corrections give different concepts.

    mention (str): The text: a mention, or what it stands for.
    kb_ids (Tuple[str, ...]): Concept ids, or "NIL", the last one that was chosen last.
    authors (Tuple[str, ...]): Who chose each.
    """

    mention: str
    kb_ids: tuple[str, ...]
    authors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorrectionReport:
    """What a file of corrections holds.

    records (int): Corrections and undos.
    corrections (int): Corrections that count: not undone, not replaced by a later one.
    without_concept (int): Those of them that say "NIL". They are in no table of synonyms.
    texts (int): Texts that they stand in.
    conflicts (Tuple[CorrectionConflict, ...]): Texts with different concepts.
    """

    records: int
    corrections: int
    without_concept: int
    texts: int
    conflicts: tuple[CorrectionConflict, ...]


def convert_corrections(
    path: str | Path, output_path: str | Path | None = None, *, lang: str = "en"
) -> CorrectionReport:
    """Turn corrections into annotated data, D: `python -m spacy connorm corrections`.

    path (Union[str, Path]): The file that `serve` appends to.
    output_path (Optional[Union[str, Path]]): A `.tsv` file for the `synonyms` of `build_index`,
        with the last concept of each text; a `.txt` file for the `stop_list` of `mention_finder`,
        with the texts whose last correction says that there is none; or a `.spacy` file for
        `corpora` and for training, with all mentions as people have corrected them. If None, only
        the report is made.
    lang (str): The language of the texts, for the tokenizer of `.spacy` files.
    RETURNS (CorrectionReport): Counts and conflicts.
    RAISES (ConnormError): CN100 for a missing file, CN121 if it would be replaced, CN708 for
        another suffix, CN752 for a damaged file, CN105 or CN108 if the output can't be written.
    """
    path = Path(path)
    if not path.exists():
        raise ConnormError(Errors.CN100.format(path=path))
    if output_path is not None:
        require_apart(output_path, path)
        if Path(output_path).suffix not in _WRITERS:
            known = " or ".join(_WRITERS)
            raise ConnormError(Errors.CN708.format(action="write", path=output_path, known=known))
    records = CorrectionsFile(path).read()
    corrections = effective(records)
    if output_path is not None:
        _WRITERS[Path(output_path).suffix](corrections, Path(output_path), lang)
    return CorrectionReport(
        records=len(records),
        corrections=len(corrections),
        without_concept=sum(each.kb_id == NIL for each in corrections),
        texts=len({each.text for each in corrections}),
        conflicts=tuple(_conflicts(corrections)),
    )


def _write_table(corrections: Sequence[Correction], path: Path, lang: str) -> None:
    write_synonyms(path, _counted(corrections))


def _write_docs(corrections: Sequence[Correction], path: Path, lang: str) -> None:
    write_docs(_docs(corrections, spacy.blank(lang)), path)


def _write_stop_list(corrections: Sequence[Correction], path: Path, lang: str) -> None:
    with atomic_file(path) as part:
        lines = "".join(f"{text}\n" for text in _without_concept(corrections))
        part.write_text(lines, encoding="utf8")


_WRITERS = {".tsv": _write_table, ".spacy": _write_docs, ".txt": _write_stop_list}


def _counted(corrections: Sequence[Correction]) -> "list[ChangedSynonym]":
    from ..linker.synonyms import ChangedSynonym

    counts = Counter(
        (" ".join(text.split()), concept_id)
        for each in _with_last_concept(corrections)
        for text, concept_id in each.synonyms
    )
    return [ChangedSynonym(*pair, times) for pair, times in counts.items()]


def _with_last_concept(corrections: Sequence[Correction]) -> list[Correction]:
    """RETURNS (List[Correction]): Those that say of their text what its last one says. It is what
    the server answers.
    """
    last = {_key(each): each.kb_id for each in corrections}
    return [each for each in corrections if each.kb_id == last[_key(each)]]


def _key(correction: Correction) -> str:
    return " ".join(correction.searched.lower().split())


def _without_concept(corrections: Sequence[Correction]) -> list[str]:
    """RETURNS (List[str]): The texts whose last correction gives no concept, sorted."""
    last = {_key(each): each for each in corrections}
    return sorted(" ".join(each.searched.split()) for each in last.values() if each.kb_id == NIL)


def _by_text(corrections: Iterable[Correction]) -> list[dict[str, Correction]]:
    """RETURNS (List[Dict[str, Correction]]): Of each text, the last correction to each concept."""
    by_text: dict[str, dict[str, Correction]] = {}
    for each in corrections:
        chosen = by_text.setdefault(_key(each), {})
        chosen.pop(each.kb_id, None)
        chosen[each.kb_id] = each
    return list(by_text.values())


def _conflicts(corrections: Sequence[Correction]) -> Iterator[CorrectionConflict]:
    for chosen in _by_text(corrections):
        if len(chosen) > 1:
            *_, last = chosen.values()
            authors = tuple([each.author for each in chosen.values()])
            yield CorrectionConflict(last.searched, tuple(chosen), authors)


def _docs(corrections: Iterable[Correction], nlp: Language) -> Iterator[Doc]:
    in_order = sorted(corrections, key=lambda each: (each.text, each.start, each.end))
    for text, mentions in groupby(in_order, key=lambda each: each.text):
        yield _doc(nlp.make_doc(text), list(mentions))


def _doc(doc: Doc, corrections: Sequence[Correction]) -> Doc:
    spans = [_span(doc, each) for each in corrections]
    doc.spans[MENTIONS_KEY] = spans
    set_mentions(
        doc,
        [
            Mention(each.mention, each.label, each.kb_id, ((each.start, each.end),))
            for each in corrections
        ],
    )
    doc.ents = filter_spans(spans)
    return doc


def _span(doc: Doc, correction: Correction) -> Span:
    start, end = correction.start, correction.end
    # Never None: "expand" finds a span for all characters inside the text.
    return doc.char_span(  # type: ignore[return-value]
        start, end, label=correction.label, kb_id=correction.kb_id, alignment_mode="expand"
    )
