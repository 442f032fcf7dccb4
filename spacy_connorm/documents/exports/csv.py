"""CSV: one row per mention, with a header."""

import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...files.text import open_text
from .documents import ExportedDocument, ExportedMention

COLUMNS = (
    *("doc_id", "start", "end", "text", "label", "kb_id", "name", "score", "probability"),
    *("matched", "search", "long_form", "candidates"),
)
_SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class CsvExporter:
    """Writes one row per mention. Values of a composite's parts are joined by `|`, as its ids
    are; the score and the probability are the lowest of them."""

    def render(self, document: ExportedDocument, changes: Counter[str]) -> list[tuple[Any, ...]]:
        return [(document.doc_id, *_cells(each)) for each in document.mentions]

    def write(
        self, rendered: Iterable[list[tuple[Any, ...]]], path: Path, changes: Counter[str]
    ) -> None:
        with open_text(path, "wt", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for each in rendered:
                rows.writerows(each)


def _cells(mention: ExportedMention) -> tuple[Any, ...]:
    leading = mention.leading
    names = [each.name for each in leading if each.concept_id in mention.concept_ids]
    probabilities = [each.probability for each in leading if each.probability is not None]
    candidates = [each._asdict() for each in mention.candidates]
    return (
        *(mention.start, mention.end, mention.text, mention.label, mention.kb_id),
        _SEPARATOR.join(names),
        min((each.score for each in leading), default=""),
        min(probabilities, default=""),
        _SEPARATOR.join(each.text for each in leading),
        _SEPARATOR.join(dict.fromkeys(each.search for each in leading)),
        mention.long_form,
        json.dumps(candidates, ensure_ascii=False),
    )
