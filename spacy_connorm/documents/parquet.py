"""Parquet: one row per text, as in JSON lines, with types."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.util import minibatch

from ..concepts import Candidate
from ..errors import require_installed
from .document import Document

# Rows in one group: what is in memory, and what a reader must load at least.
_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class ParquetExporter:
    """Writes one row per text; its mentions and their candidates are lists of structs."""

    def __post_init__(self) -> None:
        require_installed("Parquet", "parquet", "pyarrow")

    def render(self, document: Document, changes: Counter[str]) -> dict[str, Any]:
        return {
            "doc_id": document.doc_id,
            "text": document.text,
            "fields": json.dumps(document.fields, ensure_ascii=False),
            "mentions": [
                {
                    "start": mention.extent[0],
                    "end": mention.extent[1],
                    "text": mention.text,
                    "label": mention.label,
                    "kb_id": mention.kb_id,
                    "long_form": mention.long_form or None,
                    "assertions": mention.assertions,
                    "fragments": [{"start": start, "end": end} for start, end in mention.fragments],
                    "candidates": [_candidate(each) for each in mention.candidates],
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
    """Describe the rows that are written.

    RETURNS (pyarrow.Schema): Their columns and types.
    """
    import pyarrow as pa

    text, offset, number = pa.string(), pa.int32(), pa.float64()
    fragment = pa.struct([("start", offset), ("end", offset)])
    candidate = pa.struct(
        [
            *(("concept_id", text), ("name", text), ("score", number), ("text", text)),
            *(("search", text), ("searched", text), ("part", offset)),
            *(("dense", number), ("lexical", number), ("probability", number)),
            ("codes", pa.map_(text, pa.list_(text))),
        ]
    )
    mention = pa.struct(
        [
            *(("start", offset), ("end", offset), ("text", text), ("label", text)),
            *(("kb_id", text), ("long_form", text), ("assertions", pa.list_(text))),
            *(("fragments", pa.list_(fragment)), ("candidates", pa.list_(candidate))),
        ]
    )
    return pa.schema(
        [("doc_id", text), ("text", text), ("fields", text), ("mentions", pa.list_(mention))]
    )
