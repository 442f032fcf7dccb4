"""The folder of an annotated corpus: what was made from what, and with which pipeline."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..about import __version__
from ..errors import Errors
from ..files.atomic import atomic_file, private, write_errors
from ..files.folders import MANIFEST, describe, files_in, seal
from ..pipeline.loading import find_pipeline_folder
from .annotation import AnnotationCounts
from .corpus_annotator import AnnotatedBatch, CorpusAnnotator, corpus_schema
from .fragments import InputFragment

_KEY = b"spacy_connorm.annotated"


_COUNTS = "counts"


_COUNTED = ("texts", "mentions", "linked", "failed", "first_failed", "first_error")


_INPUT = "input"


def _as_json(counts: AnnotationCounts) -> dict[str, Any]:
    return {name: getattr(counts, name) for name in _COUNTED}


def identify(annotator: CorpusAnnotator) -> dict[str, Any]:
    """Describe everything that answers depend on.

    annotator (CorpusAnnotator): The annotator.
    RETURNS (Dict[str, Any]): A checksum of all files of the pipeline, the settings and the version.
    RAISES (ConnormError): CN700 if there is no such pipeline.
    """
    folder = find_pipeline_folder(str(annotator.pipeline))
    files = {
        name: describe(file)
        for name, file in files_in(folder).items()
        if "__pycache__" not in file.parts
    }
    return {
        "pipeline": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest(),
        "text_field": annotator.text_field,
        "id_field": annotator.id_field,
        "component": annotator.component,
        "spacy_connorm": __version__,
    }


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """The folder that a corpus is written to.

    path (Path): The folder.
    identity (Dict[str, Any]): The result of `identify`.
    """

    path: Path
    identity: dict[str, Any]

    def write(self, fragment: InputFragment, batches: Iterable[AnnotatedBatch]) -> AnnotationCounts:
        """Write the output of a fragment, completely or not at all. If an earlier attempt is still
        running, the last one wins.

        fragment (InputFragment): The fragment.
        batches (Iterable[AnnotatedBatch]): Its texts, as they are annotated.
        RETURNS (AnnotationCounts): The counts of what was written.
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
            record = json.dumps({**origin, _COUNTS: _as_json(counts)}, sort_keys=True)
            writer.add_key_value_metadata({_KEY: record.encode()})
        return counts

    def find_written(self, fragments: Sequence[InputFragment]) -> set[str]:
        """Find the fragments that an earlier run has written.

        fragments (Sequence[InputFragment]): All fragments of the corpus.
        RETURNS (Set[str]): Their names.
        RAISES (ConnormError): CN705 if there is anything else, CN794 for files made from another
            corpus, by another pipeline or with other settings.
        """
        if self.path.is_file():
            raise Errors.CN705(path=self.path)
        expected = {self._target(fragment): fragment for fragment in fragments}
        written = set()
        for name, path in files_in(self.path).items():
            if _is_hidden(name) or name == MANIFEST:
                continue
            origin, _ = self._read(path)
            fragment = expected.get(path)
            wanted = self._origin(fragment) if fragment else {}
            differing = [name for name in origin if origin[name] != wanted.get(name)]
            if fragment is None or differing:
                what = ", ".join(differing) if fragment else _INPUT
                raise Errors.CN794(path=self.path, fragment=name, what=what)
            written.add(fragment.name)
        return written

    def finish(self, fragments: Sequence[InputFragment]) -> AnnotationCounts:
        """Write the manifest.

        fragments (Sequence[InputFragment]): All fragments of the corpus, all of them written.
        RETURNS (AnnotationCounts): The counts of all fragments.
        RAISES (ConnormError): CN108 if it can't be written.
        """
        counts = AnnotationCounts()
        for fragment in fragments:
            counts.update(self._read(self._target(fragment))[1])
        with write_errors(self.path):
            for part in self.path.rglob(".*.part-*"):
                part.unlink()  # left by a writer that was killed
            hidden = filter(_is_hidden, files_in(self.path))
            seal(self.path, {**self.identity, _COUNTS: _as_json(counts)}, leave_out=[*hidden])
        return counts

    def _target(self, fragment: InputFragment) -> Path:
        return self.path / fragment.output_name

    def _origin(self, fragment: InputFragment) -> dict[str, Any]:
        return {**self.identity, _INPUT: describe(fragment.path)}

    def _read(self, path: Path) -> tuple[dict[str, Any], AnnotationCounts]:
        """Read what the output of a fragment was made from, and its counts."""
        from pyarrow import ArrowException
        from pyarrow.parquet import read_metadata

        with Errors.CN705.instead_of(ArrowException, OSError, TypeError, KeyError, path=self.path):
            origin = json.loads(read_metadata(path).metadata[_KEY])
        return origin, AnnotationCounts(**origin.pop(_COUNTS))


def _is_hidden(name: str) -> bool:
    """Check whether a killed writer left a file, or the file system owns it."""
    return any(part.startswith(".") for part in name.split("/"))
