"""A document as one record: a JSON object on a line, as written by `connorm annotate` and the
server, or a typed row of Parquet.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from spacy.util import minibatch

from ..concepts import Candidate
from ..errors import Errors, require_installed
from ..files.json_items import json_line
from ..files.text import open_text
from .document import Document
from .mentions import Mention

Record = dict[str, Any]
_TEXT, _ENTS = "text", "ents"
# Rows in one Parquet row group: the number in memory, and the minimum that a reader must load.
_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class JsonlExporter:
    """Writes one JSON object per line. A document with another field that has the name of one of
    ours is refused (CN774).
    """

    def render(self, document: Document, changes: Counter[str]) -> str:
        for field in (_TEXT, _ENTS):
            if field in document.fields:
                raise Errors.CN774(number=document.number, field=field, format="jsonl")
        return json_line(make_record(document))

    def write(self, rendered: Iterable[str], path: Path, changes: Counter[str]) -> None:
        with open_text(path, "wt") as file:
            file.writelines(f"{line}\n" for line in rendered)


def make_record(document: Document) -> Record:
    """Convert a document to JSON.

    document (Document): The document.
    RETURNS (Dict[str, Any]): "text", "ents" with "start", "end" (characters), "text", "label",
        "kb_id" and "candidates", "assertions" if a component looked for them, "possibility" of
        what is possible, and the fields that came with the text.
    """
    ents = list(map(_ent, document.mentions))
    return {**document.fields, _TEXT: document.text, _ENTS: ents}


def _about(mention: Mention) -> Record:
    start, end = mention.extent
    place = {"start": start, "end": end, "text": mention.text}
    return {**place, "label": mention.label, "kb_id": mention.kb_id}


def _ent(mention: Mention) -> Record:
    marks: Record = {} if mention.assertions is None else {"assertions": list(mention.assertions)}
    if mention.possibility:
        marks["possibility"] = mention.possibility
    candidates = [candidate._asdict() for candidate in mention.candidates]
    return {**_about(mention), **marks, "candidates": candidates}


@dataclass(frozen=True, slots=True)
class ParquetExporter:
    """Writes one row per text; its mentions and their candidates are lists of structs."""

    def __post_init__(self) -> None:
        require_installed("Parquet", "parquet", "pyarrow")

    def render(self, document: Document, changes: Counter[str]) -> dict[str, Any]:
        return {
            "doc_id": document.doc_id,
            "text": document.text,
            "fields": json_line(document.fields),
            "mentions": [
                {
                    **_about(mention),
                    "long_form": mention.long_form or None,
                    "assertions": mention.assertions,
                    "possibility": mention.possibility or None,
                    "fragments": [{"start": start, "end": end} for start, end in mention.fragments],
                    "candidates": [_candidate(candidate) for candidate in mention.candidates],
                }
                for mention in document.mentions
            ],
        }

    def write(self, rendered: Iterable[dict[str, Any]], path: Path, changes: Counter[str]) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        schema = row_schema()
        with ParquetWriter(path, schema, compression="zstd") as writer:
            for rows in minibatch(rendered, _ROWS):
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def _candidate(candidate: Candidate) -> dict[str, Any]:
    # A map is a list of pairs.
    codes = None if candidate.codes is None else list(candidate.codes.items())
    return {**candidate._asdict(), "codes": codes}


def row_schema() -> Any:
    """Get the schema of the rows.

    RETURNS (pyarrow.Schema): Their columns and types.
    """
    import pyarrow as pa

    text, offset, number = pa.string(), pa.int32(), pa.float64()
    fragment = pa.struct([("start", offset), ("end", offset)])
    types: dict[Any, Any] = {str: text, int: offset, float: number, float | None: number}
    types[dict[str, list[str]] | None] = pa.map_(text, pa.list_(text))
    hints = get_type_hints(Candidate).items()
    candidate = pa.struct([(name, types[hint]) for name, hint in hints])
    mention = pa.struct(
        [
            ("start", offset),
            ("end", offset),
            ("text", text),
            ("label", text),
            ("kb_id", text),
            ("long_form", text),
            ("assertions", pa.list_(text)),
            ("possibility", text),
            ("fragments", pa.list_(fragment)),
            ("candidates", pa.list_(candidate)),
        ]
    )
    return pa.schema(
        [("doc_id", text), ("text", text), ("fields", text), ("mentions", pa.list_(mention))]
    )
