"""PubTator: the format of the NCBI disease corpus, BC5CDR, NLM-Chem, MedMentions and others.

    10192393|t|A common human skin tumour
    10192393|a|is caused by activating mutations.
    10192393	15	26	skin tumour	DiseaseClass	D012878

A document is one such block, or several in a row with the same id (NLM-Chem's passages, whose
offsets start at 0 in each). A seventh column, which repeats the parts of a composite mention, is
ignored, and so are relation lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from spacy.language import Language
from spacy.training import Example

from ...errors import ConnormError, Errors, quote
from ..mentions import Mention
from .documents import Document, make_mention
from .lines import Place, placed_lines
from .reading import read_corpus
from .report import CorpusReport

_TEXT_LINE = re.compile(r"([^\s|]+)\|([ta])\|(.*)")
_RELATION_NAME = re.compile(r"[A-Za-z_]+")


@dataclass(slots=True)
class _Block:
    doc_id: str
    title: str
    abstract: str | None = None
    rows: list[tuple[Place, list[str]]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.abstract}" if self.abstract else self.title


def read_pubtator_corpus(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the documents of a PubTator file.

    path (Path): The file.
    report (CorpusReport): Counts ignored lines and problems.
    YIELDS (Document): The documents; the passages of one are joined by a newline.
    RAISES (ConnormError): CN204 for a line that is not PubTator's, CN205 for offsets that are not
        numbers, and what `make_mention` and `placed_lines` raise.
    """
    for doc_id, blocks in groupby(_blocks(path, report=report), key=lambda block: block.doc_id):
        yield _document(doc_id, blocks, report=report)


def _blocks(path: Path, *, report: CorpusReport) -> Iterator[_Block]:
    block = None
    for place, line in placed_lines(path, report=report):
        text_line = _TEXT_LINE.fullmatch(line)
        if text_line and text_line[2] == "t":
            if block:
                yield block
            block = _Block(doc_id=text_line[1], title=text_line[3])
        elif block is None:
            raise ConnormError(Errors.CN204.format(place=place))
        elif text_line:
            if text_line[1] != block.doc_id or block.abstract is not None or block.rows:
                raise ConnormError(Errors.CN204.format(place=place))
            block.abstract = text_line[3]
        else:
            block.rows.append((place, line.split("\t")))
    if block:
        yield block


def _document(doc_id: str, blocks: Iterable[_Block], *, report: CorpusReport) -> Document:
    texts: list[str] = []
    mentions: list[Mention] = []
    offset = 0
    for block in blocks:
        for place, columns in block.rows:
            if _is_relation(columns):
                report.skipped["relation lines"] += 1
                continue
            mention = _mention(columns, block=block, place=place, report=report)
            mentions.append(mention.shifted(offset))
        texts.append(block.text)
        offset += len(block.text) + 1
    return Document(doc_id, "\n".join(texts), tuple(mentions), passages=len(texts))


def _is_relation(columns: list[str]) -> bool:
    return len(columns) in (4, 5) and _RELATION_NAME.fullmatch(columns[1]) is not None


def _mention(columns: list[str], *, block: _Block, place: Place, report: CorpusReport) -> Mention:
    if not 5 <= len(columns) <= 7 or columns[0] != block.doc_id:
        raise ConnormError(Errors.CN204.format(place=place))
    start, end, annotated, label, *ids = columns[1:6]
    try:
        fragment = int(start), int(end)
    except ValueError:
        message = Errors.CN205.format(place=place, start=quote(start), end=quote(end))
        raise ConnormError(message) from None  # `int` repeats the text
    return make_mention(
        block.text,
        [fragment],
        label=label,
        ids="".join(ids),
        place=place,
        report=report,
        annotated=annotated,
    )


def create_pubtator_reader(
    path: Path, types: Sequence[str] = ()
) -> Callable[[Language], Iterator[Example]]:
    """Registered as `spacy-connorm.PubTatorCorpus.v1`: read a PubTator file as a training corpus,
    without converting it first.

    path (Path): The file.
    types (Sequence[str]): The mention types to keep; if empty, all that should be linked.
    RETURNS (Callable[[Language], Iterator[Example]]): Called with a pipeline, yields examples with
        the plain text as predicted document and the annotated document as reference.
    """

    def read_examples(nlp: Language) -> Iterator[Example]:
        for reference in read_corpus(path, nlp=nlp, format="pubtator", types=types):
            yield Example(nlp.make_doc(reference.text), reference)

    return read_examples
