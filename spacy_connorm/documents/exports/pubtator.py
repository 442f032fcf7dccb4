"""PubTator: `ID|t|title`, `ID|a|abstract` and a line per mention, in code points from 0."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...files.text import open_text
from ..mentions import NO_ID
from .distinct_ids import DistinctIds
from .documents import ExportedDocument, ExportedMention

# All that ends a line for `str.splitlines`, and what separates columns.
_BREAKS = str.maketrans(dict.fromkeys("\n\r\t\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_NOT_IN_IDS = re.compile(r"[\s|]")
_RENAMED = "white space and `|` in ids of documents became `_`"


class PubTatorBlock(NamedTuple):
    """What is written of a document.

    doc_id (str): Its id, if no other document has it.
    lines (List[str]): Its lines, without the id that each begins with.
    """

    doc_id: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class PubTatorExporter:
    """Writes one block a document: its first line is the title, the others are the abstract. Line
    breaks and tabs become spaces, one for one, so that all offsets hold."""

    def render(self, document: ExportedDocument, changes: Counter[str]) -> PubTatorBlock:
        doc_id, renamed = _NOT_IN_IDS.subn("_", document.doc_id)
        if renamed:
            changes[_RENAMED] += 1
        title, abstract = _split(document.text)
        lines = [f"|t|{title.translate(_BREAKS)}", f"|a|{abstract.translate(_BREAKS)}"]
        lines += (_line(document.text, each) for each in document.mentions)
        return PubTatorBlock(doc_id, lines)

    def write(self, rendered: Iterable[PubTatorBlock], path: Path, changes: Counter[str]) -> None:
        taken: set[str] = set()
        ids = DistinctIds(taken.__contains__)
        with open_text(path, "wt") as file:
            for each in rendered:
                doc_id = ids.choose(each.doc_id, changes)
                taken.add(doc_id)
                file.writelines(f"{doc_id}{line}\n" for line in each.lines)
                file.write("\n")


def _split(text: str) -> tuple[str, str]:
    """RETURNS (Tuple[str, str]): Title and abstract, with one character between them, which readers
    count. Many drop white space at the end of a title, so it goes to the abstract.
    """
    line_break = re.search(r"[\n\r]", text)
    if not line_break:
        return text, ""
    title = text[: line_break.start()].rstrip()
    return title, text[len(title) + 1 :]


def _line(text: str, mention: ExportedMention) -> str:
    start, end = mention.start, mention.end
    kb_id = NO_ID if mention.is_nil else mention.kb_id
    cells = ("", str(start), str(end), text[start:end], mention.label, kb_id)
    return "\t".join(cell.translate(_BREAKS) for cell in cells)
