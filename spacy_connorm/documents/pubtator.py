"""PubTator: the format of the NCBI disease corpus, BC5CDR, NLM-Chem, MedMentions and others.

    10192393|t|A common human skin tumour
    10192393|a|is caused by activating mutations.
    10192393	15	26	skin tumour	DiseaseClass	D012878

A document is one such block, or several in a row with the same id (NLM-Chem's passages, whose
offsets start at 0 in each). A seventh column, which repeats the parts of a composite mention, is
ignored, and so are relation lines. Offsets count code points from 0.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from ..errors import quote
from ..files.text import open_text
from .document import CorpusReport, Document, Place, make_mention, placed_lines, unlike
from .mentions import NO_ID, Mention
from .writing import BREAKS, DistinctIds

_EXPECTED = (
    "`ID|t|title`, then `ID|a|abstract`, then its mentions: ID, start, end, text, type and concept "
    "ids, separated by tabs"
)
_unlike = partial(unlike, format="PubTator", expected=_EXPECTED)
_TEXT_LINE = re.compile(r"([^\s|]+)\|([ta])\|(.*)")
_RELATION_NAME = re.compile(r"[A-Za-z_]+")
_NOT_IN_IDS = re.compile("[\\s|\ud800-\udfff]")
_NO_ASSERTIONS = "mentions that are negated, possible, a relative's or past are written like others"
_RENAMED = "white space and `|` in ids of documents became `_`"


@dataclass(slots=True)
class _Block:
    doc_id: str
    title: str
    abstract: str | None = None
    rows: list[tuple[Place, list[str]]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.abstract}" if self.abstract else self.title


def read_pubtator(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the documents of a PubTator file.

    path (Path): The file.
    report (CorpusReport): Counts ignored lines and problems.
    YIELDS (Document): The documents; the passages of a document are joined by a newline.
    RAISES (ConnormError): CN204 or that of `make_mention` for too many lines that are not
        PubTator's, and the errors of `placed_lines`.
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
            report.odd.skip(_unlike(place, "a document begins with its title"))
        elif text_line:
            if text_line[1] != block.doc_id or block.abstract is not None or block.rows:
                reason = "an abstract comes after the title of the same document"
                report.odd.skip(_unlike(place, reason))
            else:
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
            if len(columns) in (4, 5) and _RELATION_NAME.fullmatch(columns[1]):
                report.skipped["relation lines"] += 1
                continue
            with report.odd.skip_errors():
                mention = _mention(columns, block=block, place=place, report=report)
                mentions.append(mention.shifted(offset))
        texts.append(block.text)
        offset += len(block.text) + 1
    return Document(doc_id, "\n".join(texts), tuple(mentions), passages=len(texts))


def _mention(columns: list[str], *, block: _Block, place: Place, report: CorpusReport) -> Mention:
    if not 5 <= len(columns) <= 7 or columns[0] != block.doc_id:
        raise _unlike(place, "it is not a mention of the document above")
    start, end, annotated, label, *ids = columns[1:6]
    try:
        fragment = int(start), int(end)
    except ValueError:  # the error of `int` repeats the text
        raise _unlike(place, f"{quote(start)} and {quote(end)} are not offsets") from None
    return make_mention(
        block.text,
        [fragment],
        label=label,
        ids="".join(ids),
        place=place,
        report=report,
        annotated=annotated,
    )


# The id of a document, unless another one has it, and its lines, without the id at their beginning.
PubTatorBlock: TypeAlias = tuple[str, list[str]]


@dataclass(frozen=True, slots=True)
class PubTatorExporter:
    """Writes one block per document: its first line is the title, the others are the abstract. Each
    line break or tab becomes a space, so that offsets stay valid.
    """

    def render(self, document: Document, changes: Counter[str]) -> PubTatorBlock:
        doc_id, renamed = _NOT_IN_IDS.subn("_", document.doc_id)
        changes[_RENAMED] += bool(renamed)
        title, abstract = _split(document.text)
        changes[_NO_ASSERTIONS] += sum(bool(mention.assertions) for mention in document.mentions)
        lines = [f"|t|{title.translate(BREAKS)}", f"|a|{abstract.translate(BREAKS)}"]
        lines += (_line(document.text, mention) for mention in document.mentions)
        return doc_id, lines

    def write(self, rendered: Iterable[PubTatorBlock], path: Path, changes: Counter[str]) -> None:
        taken: set[str] = set()
        ids = DistinctIds(taken.__contains__)
        with open_text(path, "wt") as file:
            for own_id, lines in rendered:
                doc_id = ids.choose(own_id, changes)
                taken.add(doc_id)
                file.writelines(f"{doc_id}{line}\n" for line in lines)
                file.write("\n")


def _split(text: str) -> tuple[str, str]:
    """Split a text into title and abstract, with one character between them, which readers count.
    Many readers drop white space at the end of a title, so it goes to the abstract.
    """
    line_break = re.search(r"[\n\r]", text)
    if not line_break:
        return text, ""
    title = text[: line_break.start()].rstrip()
    return title, text[len(title) + 1 :]


def _line(text: str, mention: Mention) -> str:
    start, end = mention.extent
    kb_id = NO_ID if mention.is_nil else mention.kb_id
    cells = ("", str(start), str(end), text[start:end], mention.label, kb_id)
    return "\t".join(cell.translate(BREAKS) for cell in cells)
