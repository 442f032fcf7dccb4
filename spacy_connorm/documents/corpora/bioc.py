"""BioC, as XML or JSON: PubTator's and PubMed Central's exports, BC5CDR and others.

    <collection><document><id>10192393</id>
      <passage><offset>0</offset><text>A common human skin tumour</text>
        <annotation id="1"><infon key="type">Disease</infon><infon key="MESH">D012878</infon>
          <location offset="15" length="11"/><text>skin tumour</text></annotation>
      </passage>
    </document></collection>

The passages of a document are joined by a line break, the sentences of a passage by a space.
Offsets count code points from the start of the document, as PubTator and the library `bioc` do; the
text of an annotation tells if a file counts otherwise (bytes, or UTF-16 code units), and such
mentions are reported.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...concepts.curies import PREFIXES, join_curie
from ...errors import ConnormError, Errors
from ...files.xml import read_pieces
from ..mentions import Mention
from .bioc_json import read_json_documents
from .bioc_records import BioCAnnotation, BioCDocument, Infons
from .bioc_xml import read_xml_documents
from .documents import Document, make_mention
from .lines import replace_surrogates
from .report import CorpusReport

_ID_KEYS = ("identifier", "concept_id", "conceptid")
_TYPE_KEYS = ("type",)
# Vocabularies by the keys that tools of NCBI write.
_NCBI = {"NCBI GENE": "NCBIGene", "GENE": "NCBIGene", "NCBI TAXONOMY": "NCBITaxon"}
_SEPARATORS = re.compile(r"([|+,;])")


class _Block(NamedTuple):
    """A passage or a sentence: where its text starts in the file's count, and in ours."""

    offset: int
    start: int
    text: str

    def place(self, offset: int, *, gap: int = 0) -> int | None:
        inside = self.offset <= offset < self.offset + len(self.text) + gap
        return offset + self.start - self.offset if inside else None


def read_bioc_corpus(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the documents of a BioC file.

    path (Path): The file, XML or JSON: a collection, or one document per line.
    report (CorpusReport): Counts ignored relations and problems.
    YIELDS (Document): The documents.
    RAISES (ConnormError): CN207 for offsets outside all passages, CN214 for a file that is not
        BioC, and what `make_mention` and `read_pieces` raise.
    """
    for record in _reader(path)(path):
        yield _document(record, report=report)


def _reader(path: Path) -> Callable[[Path], Iterator[BioCDocument]]:
    first = next((text.lstrip() for _, text in read_pieces(path) if text.strip()), "")
    return read_xml_documents if first.startswith("<") else read_json_documents


def _document(record: BioCDocument, *, report: CorpusReport) -> Document:
    blocks: list[_Block] = []
    owners: list[tuple[BioCAnnotation, _Block | None]] = []
    text = ""
    for passage in record.passages:
        for number, part in enumerate(passage.parts):
            if blocks:
                text += " " if number else "\n"
            own = replace_surrogates(part.text, report=report)
            blocks.append(_Block(part.offset, len(text), own))
            text += own
            owners += ((each, blocks[-1]) for each in part.annotations)
        owners += ((each, None) for each in passage.annotations)
    owners += ((each, None) for each in record.annotations)
    if record.relations:
        report.skipped["relations"] += record.relations
    mentions = []
    for annotation, block in owners:
        if annotation.locations:
            mentions.append(_mention(annotation, text, block, blocks, report=report))
        else:
            report.skipped["annotations without a location"] += 1
    doc_id = replace_surrogates(record.doc_id, report=report)
    return Document(doc_id, text, tuple(mentions), passages=len(record.passages))


def _mention(
    annotation: BioCAnnotation,
    text: str,
    own: _Block | None,
    blocks: list[_Block],
    *,
    report: CorpusReport,
) -> Mention:
    fragments = [_place(each, own, blocks, annotation) for each in annotation.locations]
    covered = text[min(start for start, _ in fragments) : max(end for _, end in fragments)]
    annotated = replace_surrogates(annotation.text, report=report).replace(" ... ", " ")
    return make_mention(
        text,
        fragments,
        label=replace_surrogates(_find(annotation.infons, _TYPE_KEYS), report=report),
        ids=replace_surrogates(_ids(annotation.infons), report=report),
        place=annotation.place,
        report=report,
        # Some write the gaps of a mention, too.
        annotated="" if _same(annotated, covered) else annotated,
    )


def _place(
    location: tuple[int, int], own: _Block | None, blocks: list[_Block], annotation: BioCAnnotation
) -> tuple[int, int]:
    offset, length = location
    # Its first and its last character: the next block may begin where this one ends.
    first, last = (_in_text(each, own, blocks) for each in (offset, offset + length - 1))
    if first is None or last is None:
        total = max((each.offset + len(each.text) for each in blocks), default=0)
        raise ConnormError(
            Errors.CN207.format(
                place=annotation.place, start=offset, end=offset + length, length=total
            )
        )
    return first, last + 1


def _in_text(offset: int, own: _Block | None, blocks: list[_Block]) -> int | None:
    found = own.place(offset) if own else None
    if found is not None:
        return found
    # What joins two blocks is a character, too.
    placed = (each.place(offset, gap=gap) for gap in (0, 1) for each in blocks)
    return next((each for each in placed if each is not None), None)


def _same(annotated: str, covered: str) -> bool:
    return "".join(annotated.split()) == "".join(covered.split())


def _find(infons: Infons, keys: tuple[str, ...]) -> str:
    """RETURNS (str): The value of the first of some keys, in any case; empty if there is none."""
    lowered = {key.lower(): value for key, value in infons.items()}
    return next((lowered[key] for key in keys if lowered.get(key)), "")


def _ids(infons: Infons) -> str:
    told = _find(infons, _ID_KEYS)
    if told:
        return told
    for key, value in infons.items():
        prefix = _NCBI.get(key.upper()) or (PREFIXES.prefix(key) if PREFIXES.knows(key) else "")
        if prefix and value:
            parts = _SEPARATORS.split(value)
            parts[::2] = [_with_prefix(prefix, each.strip()) for each in parts[::2]]
            return "".join(parts)
    return ""


def _with_prefix(prefix: str, local_id: str) -> str:
    return local_id if local_id in ("", "-", "-1") else join_curie(prefix, local_id)
