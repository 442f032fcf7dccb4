"""The folder of an annotated corpus: what is already in it, what belongs in it, its manifest."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..about import __version__
from ..errors import ConnormError, Errors
from ..files.atomic import write_errors
from ..files.folders import MANIFEST, describe, seal
from ..pipeline.loading import find_pipeline_folder
from .corpus_annotator import CorpusAnnotator
from .corpus_input import InputFragment
from .fragment_files import FragmentCounts, read_origin

_INPUT = "input"


def identify(annotator: CorpusAnnotator) -> dict[str, Any]:
    """Describe what answers depend on.

    annotator (CorpusAnnotator): The annotator.
    RETURNS (Dict[str, Any]): A checksum of all files of the pipeline, the settings and the version.
    RAISES (ConnormError): CN700 if there is no such pipeline.
    """
    folder = find_pipeline_folder(annotator.pipeline)
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

    def target(self, fragment: InputFragment) -> Path:
        """RETURNS (Path): What is written for a fragment."""
        return self.path / fragment.output_name

    def origin(self, fragment: InputFragment) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): What the output of a fragment is made from."""
        return {**self.identity, _INPUT: describe(fragment.path)}

    def find_written(self, fragments: Sequence[InputFragment]) -> dict[str, FragmentCounts]:
        """Find the fragments that an earlier run has written.

        fragments (Sequence[InputFragment]): All fragments of the corpus.
        RETURNS (Dict[str, FragmentCounts]): What was annotated, by the fragment's name.
        RAISES (ConnormError): CN705 if there is anything else, CN794 for what was made from another
            corpus, by another pipeline or with other settings.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ConnormError(Errors.CN705.format(path=self.path))
        expected = {self.target(fragment): fragment for fragment in fragments}
        written = {}
        for path in self._visible():
            origin, counts = self._read(path)
            fragment = expected.get(path)
            wanted = self.origin(fragment) if fragment else {}
            differing = [name for name in origin if origin[name] != wanted.get(name)]
            if fragment is None or differing:
                what = ", ".join(differing) if fragment else _INPUT
                name = path.relative_to(self.path).as_posix()
                message = Errors.CN794.format(path=self.path, fragment=name, what=what)
                raise ConnormError(message)
            written[fragment.name] = counts
        return written

    def find(self, fragment: InputFragment) -> FragmentCounts | None:
        """RETURNS (Optional[FragmentCounts]): What is in the output of a fragment, if it is there
        and made from this input.
        """
        found = read_origin(self.target(fragment))
        return found[1] if found and found[0] == self.origin(fragment) else None

    def finish(self, fragments: Sequence[InputFragment]) -> FragmentCounts:
        """Write the manifest.

        fragments (Sequence[InputFragment]): All fragments of the corpus, all of them written.
        RETURNS (FragmentCounts): What is in them.
        RAISES (ConnormError): CN108 if it can't be written.
        """
        counts = FragmentCounts()
        for fragment in fragments:
            counts.update(self._read(self.target(fragment))[1])
        with write_errors(self.path):
            for part in self.path.rglob(".*.part-*"):
                part.unlink()  # of a writer that was killed
            hidden = [
                file.relative_to(self.path).as_posix()
                for file in self.path.rglob("*")
                if self._is_hidden(file)
            ]
            seal(self.path, {**self.identity, "counts": asdict(counts)}, leave_out=hidden)
        return counts

    def _read(self, path: Path) -> tuple[dict[str, Any], FragmentCounts]:
        found = read_origin(path)
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
