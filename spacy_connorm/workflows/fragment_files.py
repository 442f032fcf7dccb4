"""What is written for a fragment: a Parquet file that tells what it was made from."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..documents.mentions import split_ids
from ..files.atomic import atomic_file, private
from .corpus_annotator import ERROR, Row, corpus_schema

_KEY = b"spacy_connorm.annotated"
_COUNTS = "counts"


@dataclass(slots=True)
class FragmentCounts:
    """What was annotated.

    texts (int): Texts.
    mentions (int): Mentions in them.
    linked (int): Mentions that have a concept.
    failed (int): Texts that failed.
    first_failed (str): The id of the first of those; empty if there is none.
    first_error (str): Why it failed.
    """

    texts: int = 0
    mentions: int = 0
    linked: int = 0
    failed: int = 0
    first_failed: str = ""
    first_error: str = ""

    def add(self, row: Row) -> None:
        """Count a text.

        row (Dict[str, Any]): Its row.
        """
        mentions = row["mentions"] or ()
        error = row[ERROR] or ""
        linked = sum(bool(split_ids(each["kb_id"])) for each in mentions)
        first = row["doc_id"] if error else ""
        self.update(FragmentCounts(1, len(mentions), linked, bool(error), first, error))

    def update(self, other: "FragmentCounts") -> None:
        """Add other counts.

        other (FragmentCounts): Those of texts that come later.
        """
        if not self.failed:
            self.first_failed, self.first_error = other.first_failed, other.first_error
        self.texts += other.texts
        self.mentions += other.mentions
        self.linked += other.linked
        self.failed += other.failed


class AnnotatedBatch(NamedTuple):
    """Annotated texts of one fragment, as processes exchange them.

    table (pyarrow.Table): A row for each.
    counts (FragmentCounts): What is in it.
    """

    table: Any
    counts: FragmentCounts


def make_batch(rows: Sequence[Row]) -> AnnotatedBatch:
    """Turn annotated texts into a table.

    rows (Sequence[Dict[str, Any]]): From a `CorpusAnnotator`.
    RETURNS (AnnotatedBatch): The table and its counts.
    """
    import pyarrow

    counts = FragmentCounts()
    for row in rows:
        counts.add(row)
    return AnnotatedBatch(pyarrow.Table.from_pylist(rows, schema=corpus_schema()), counts)


def write_fragment(
    path: Path, batches: Iterable[AnnotatedBatch], origin: dict[str, Any]
) -> FragmentCounts:
    """Write the output of a fragment, whole or not at all.

    path (Path): The file, in a folder that only this run writes to. If an earlier attempt has not
        ended yet, the last one wins.
    batches (Iterable[AnnotatedBatch]): Its texts as they come.
    origin (Dict[str, Any]): What it is made from; JSON. It is kept in the file.
    RETURNS (FragmentCounts): What was written.
    RAISES (ConnormError): CN108 if the file can't be written.
    """
    from pyarrow.parquet import ParquetWriter

    counts = FragmentCounts()
    with (
        private(path.parent),
        atomic_file(path) as aside,
        ParquetWriter(aside, corpus_schema(), compression="zstd") as writer,
    ):
        for batch in batches:
            writer.write_table(batch.table)
            counts.update(batch.counts)
        told = json.dumps({**origin, _COUNTS: asdict(counts)}, sort_keys=True)
        writer.add_key_value_metadata({_KEY: told.encode()})
    return counts


def read_origin(path: Path) -> tuple[dict[str, Any], FragmentCounts] | None:
    """Read what the output of a fragment was made from.

    path (Path): A file.
    RETURNS (Optional[Tuple[Dict[str, Any], FragmentCounts]]): What `write_fragment` was given, and
        its counts; None for any other file.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import read_metadata

    try:
        told = (read_metadata(path).metadata or {}).get(_KEY)
    except (ArrowException, OSError):
        return None
    if told is None:
        return None
    origin = json.loads(told)
    return origin, FragmentCounts(**origin.pop(_COUNTS))
