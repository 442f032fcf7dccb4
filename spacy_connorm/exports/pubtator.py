"""PubTator: `ID|t|title`, `ID|a|abstract` and a line a mention, in code points from 0."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..annotations.mentions import NO_ID
from ..files.text import open_text
from .documents import ExportedDocument, ExportedMention

# All that ends a line for `str.splitlines`, and what separates columns.
_BREAKS = str.maketrans(dict.fromkeys("\n\r\t\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_NOT_IN_IDS = re.compile(r"[\s|]")
_RENAMED = "white space and `|` in ids of documents became `_`"


@dataclass(frozen=True, slots=True)
class PubTatorExporter:
    """Writes one block a document: its first line is the title, the others are the abstract. Line
    breaks and tabs become spaces, one for one, so that all offsets hold."""

    def render(self, document: ExportedDocument, changes: Counter[str]) -> str:
        doc_id, renamed = _NOT_IN_IDS.subn("_", document.doc_id)
        if renamed:
            changes[_RENAMED] += 1
        title, abstract = _split(document.text)
        lines = [f"{doc_id}|t|{title.translate(_BREAKS)}"]
        lines.append(f"{doc_id}|a|{abstract.translate(_BREAKS)}")
        lines += (_line(doc_id, document.text, each) for each in document.mentions)
        return "\n".join(lines)

    def write(self, rendered: Iterable[str], path: Path) -> None:
        with open_text(path, "wt") as file:
            for block in rendered:
                file.write(f"{block}\n\n")


def _split(text: str) -> tuple[str, str]:
    """RETURNS (Tuple[str, str]): Title and abstract, with one character between them, which readers
    count. Many drop white space at the end of a title, so it goes to the abstract.
    """
    line_break = re.search(r"[\n\r]", text)
    if not line_break:
        return text, ""
    title = text[: line_break.start()].rstrip()
    return title, text[len(title) + 1 :]


def _line(doc_id: str, text: str, mention: ExportedMention) -> str:
    start, end = mention.start, mention.end
    kb_id = NO_ID if mention.is_nil else mention.kb_id
    cells = (doc_id, str(start), str(end), text[start:end], mention.label, kb_id)
    return "\t".join(cell.translate(_BREAKS) for cell in cells)
