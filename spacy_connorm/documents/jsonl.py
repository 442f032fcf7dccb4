"""JSON lines: one object a text, the format of `connorm annotate` and of the server."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors
from ..files.text import open_text
from .document import Document
from .mentions import Mention

Record = dict[str, Any]
_TEXT, _ENTS = "text", "ents"


@dataclass(frozen=True, slots=True)
class JsonlExporter:
    """Writes one JSON object a line. A document with another field of the name of one of ours is
    refused (CN774).
    """

    def render(self, document: Document, changes: Counter[str]) -> str:
        for field in (_TEXT, _ENTS):
            if field in document.fields:
                message = Errors.CN774.format(number=document.number, field=field, format="jsonl")
                raise ConnormError(message)
        return json.dumps(make_record(document), ensure_ascii=False)

    def write(self, rendered: Iterable[str], path: Path, changes: Counter[str]) -> None:
        with open_text(path, "wt") as file:
            for line in rendered:
                file.write(f"{line}\n")


def make_record(document: Document) -> Record:
    """Turn a document into JSON.

    document (Document): The document.
    RETURNS (Dict[str, Any]): "text", "ents" with "start", "end" (characters), "text", "label",
        "kb_id" and "candidates", "assertions" if a component looked for them, and the fields that
        came with the text.
    """
    ents = list(map(_record_of, document.mentions))
    return {**document.fields, _TEXT: document.text, _ENTS: ents}


def _record_of(mention: Mention) -> Record:
    told = {} if mention.assertions is None else {"assertions": list(mention.assertions)}
    return {
        "start": mention.extent[0],
        "end": mention.extent[1],
        "text": mention.text,
        "label": mention.label,
        "kb_id": mention.kb_id,
        **told,
        "candidates": [each._asdict() for each in mention.candidates],
    }
