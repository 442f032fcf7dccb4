"""The folder of an annotated corpus: a Parquet file for each of its files, which tells what it was
made from, and a manifest.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..about import __version__
from ..documents.mentions import split_ids
from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file, private, write_errors
from ..files.folders import MANIFEST, describe, seal
from ..pipeline.loading import find_pipeline_folder
from .annotation import AnnotationCounts
from .corpus_annotator import ERROR, CorpusAnnotator, Row, corpus_schema
from .texts import InputFragment

_KEY = b"spacy_connorm.annotated"
_COUNTS = "counts"
_COUNTED = ("texts", "mentions", "linked", "failed", "first_failed", "first_error")
_INPUT = "input"


class AnnotatedBatch(NamedTuple):
    """Annotated texts of one fragment, as processes exchange them.

    table (pyarrow.Table): A row for each.
    counts (AnnotationCounts): What is in it.
    """

    table: Any
    counts: AnnotationCounts


def make_batch(rows: Sequence[Row]) -> AnnotatedBatch:
    """Turn annotated texts into a table.

    rows (Sequence[Dict[str, Any]]): From a `CorpusAnnotator`.
    RETURNS (AnnotatedBatch): The table and its counts.
    """
    import pyarrow

    counts = AnnotationCounts()
    for row in rows:
        counts.update(_counts_of(row))
    return AnnotatedBatch(pyarrow.Table.from_pylist(rows, schema=corpus_schema()), counts)


def _counts_of(row: Row) -> AnnotationCounts:
    mentions, error = row["mentions"] or (), row[ERROR] or ""
    linked = sum(bool(split_ids(each["kb_id"])) for each in mentions)
    first = row["doc_id"] if error else ""
    return AnnotationCounts(
        1, len(mentions), linked, failed=bool(error), first_failed=first, first_error=error
    )


def _told(counts: AnnotationCounts) -> dict[str, Any]:
    return {name: getattr(counts, name) for name in _COUNTED}


def identify(annotator: CorpusAnnotator) -> dict[str, Any]:
    """Describe what answers depend on.

    annotator (CorpusAnnotator): The annotator.
    RETURNS (Dict[str, Any]): A checksum of all files of the pipeline, the settings and the version.
    RAISES (ConnormError): CN700 if there is no such pipeline.
    """
    folder = find_pipeline_folder(str(annotator.pipeline))
    files = {
        file.relative_to(folder).as_posix(): describe(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }
    return {
        "pipeline": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest(),
        "text_field": annotator.fields.text,
        "id_field": annotator.fields.id,
        "component": annotator.component,
        "spacy_connorm": __version__,
    }


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """Where a corpus is written.

    path (Path): The folder.
    identity (Dict[str, Any]): From `identify`.
    """

    path: Path
    identity: dict[str, Any]

    def write(self, fragment: InputFragment, batches: Iterable[AnnotatedBatch]) -> AnnotationCounts:
        """Write the output of a fragment, whole or not at all. If an earlier attempt has not ended
        yet, the last one wins.

        fragment (InputFragment): The fragment.
        batches (Iterable[AnnotatedBatch]): Its texts as they come.
        RETURNS (AnnotationCounts): What was written.
        RAISES (ConnormError): CN108 if the file can't be written.
        """
        from pyarrow.parquet import ParquetWriter

        counts, path = AnnotationCounts(), self._target(fragment)
        origin = self._origin(fragment)  # before it is read
        with (
            private(path.parent),
            atomic_file(path) as aside,
            ParquetWriter(aside, corpus_schema(), compression="zstd") as writer,
        ):
            for batch in batches:
                writer.write_table(batch.table)
                counts.update(batch.counts)
            told = json.dumps({**origin, _COUNTS: _told(counts)}, sort_keys=True)
            writer.add_key_value_metadata({_KEY: told.encode()})
        return counts

    def find_written(self, fragments: Sequence[InputFragment]) -> set[str]:
        """Find the fragments that an earlier run has written.

        fragments (Sequence[InputFragment]): All fragments of the corpus.
        RETURNS (Set[str]): Their names.
        RAISES (ConnormError): CN705 if there is anything else, CN794 for what was made from another
            corpus, by another pipeline or with other settings.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ConnormError(Errors.CN705.format(path=self.path))
        expected = {self._target(fragment): fragment for fragment in fragments}
        written = set()
        for path in self._visible():
            origin, _ = self._read(path)
            fragment = expected.get(path)
            wanted = self._origin(fragment) if fragment else {}
            differing = [name for name in origin if origin[name] != wanted.get(name)]
            if fragment is None or differing:
                what = ", ".join(differing) if fragment else _INPUT
                name = path.relative_to(self.path).as_posix()
                message = Errors.CN794.format(path=self.path, fragment=name, what=what)
                raise ConnormError(message)
            written.add(fragment.name)
        return written

    def find(self, fragment: InputFragment) -> AnnotationCounts | None:
        """Look for the output of a fragment.

        RETURNS (Optional[AnnotationCounts]): What is in the output of a fragment, if it is there
        and made from this input.
        """
        found = _read_origin(self._target(fragment))
        return found[1] if found and found[0] == self._origin(fragment) else None

    def finish(self, fragments: Sequence[InputFragment]) -> AnnotationCounts:
        """Write the manifest.

        fragments (Sequence[InputFragment]): All fragments of the corpus, all of them written.
        RETURNS (AnnotationCounts): What is in them.
        RAISES (ConnormError): CN108 if it can't be written.
        """
        counts = AnnotationCounts()
        for fragment in fragments:
            counts.update(self._read(self._target(fragment))[1])
        with write_errors(self.path):
            for part in self.path.rglob(".*.part-*"):
                part.unlink()  # of a writer that was killed
            hidden = [
                file.relative_to(self.path).as_posix()
                for file in self.path.rglob("*")
                if self._is_hidden(file)
            ]
            seal(self.path, {**self.identity, _COUNTS: _told(counts)}, leave_out=hidden)
        return counts

    def _target(self, fragment: InputFragment) -> Path:
        return self.path / fragment.output_name

    def _origin(self, fragment: InputFragment) -> dict[str, Any]:
        return {**self.identity, _INPUT: describe(fragment.path)}

    def _read(self, path: Path) -> tuple[dict[str, Any], AnnotationCounts]:
        found = _read_origin(path)
        if found is None:
            raise ConnormError(Errors.CN705.format(path=self.path))
        return found

    def _visible(self) -> Iterator[Path]:
        for path in sorted(self.path.rglob("*")):
            if path.is_file() and not self._is_hidden(path) and path != self.path / MANIFEST:
                yield path

    def _is_hidden(self, path: Path) -> bool:
        """RETURNS (bool): Whether it is a part of a writer that was killed, or of a file system."""
        return any(part.startswith(".") for part in path.relative_to(self.path).parts)


def _read_origin(path: Path) -> tuple[dict[str, Any], AnnotationCounts] | None:
    """Read what the output of a fragment was made from, and its counts; None for any other file."""
    from pyarrow import ArrowException
    from pyarrow.parquet import read_metadata

    try:
        told = (read_metadata(path).metadata or {}).get(_KEY)
    except (ArrowException, OSError):
        return None
    if told is None:
        return None
    origin = json.loads(told)
    return origin, AnnotationCounts(**origin.pop(_COUNTS))
