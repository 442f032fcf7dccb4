"""Annotating a corpus of many files with a saved pipeline: a folder with a Parquet file for each of
them, which tells what it was made from, and a manifest.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ..about import __version__
from ..documents.document import ID_FIELD
from ..documents.mentions import split_ids
from ..errors import (
    ConnormError,
    Errors,
    Warnings,
    quote_id,
    require_choice,
    require_positive,
    warn,
)
from ..files.atomic import atomic_file, only_writer, private, require_apart, write_errors
from ..files.folders import MANIFEST, describe, seal
from ..pipeline.loading import find_pipeline_folder
from .corpus_annotator import ERROR, CorpusAnnotator, Row, corpus_schema
from .pool import map_in_processes, require_processes
from .texts import (
    TEXT_FIELD,
    CorpusFields,
    InputFragment,
    InputText,
    find_fragments,
    read_text_batches,
    require_fields,
)

_KEY = b"spacy_connorm.annotated"
_COUNTS = "counts"
_INPUT = "input"


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
        counts.update(_counts_of(row))
    return AnnotatedBatch(pyarrow.Table.from_pylist(rows, schema=corpus_schema()), counts)


def _counts_of(row: Row) -> FragmentCounts:
    mentions, error = row["mentions"] or (), row[ERROR] or ""
    linked = sum(bool(split_ids(each["kb_id"])) for each in mentions)
    first = row["doc_id"] if error else ""
    return FragmentCounts(1, len(mentions), linked, bool(error), first, error)


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

    def write(self, fragment: InputFragment, batches: Iterable[AnnotatedBatch]) -> FragmentCounts:
        """Write the output of a fragment, whole or not at all. If an earlier attempt has not ended
        yet, the last one wins.

        fragment (InputFragment): The fragment.
        batches (Iterable[AnnotatedBatch]): Its texts as they come.
        RETURNS (FragmentCounts): What was written.
        RAISES (ConnormError): CN108 if the file can't be written.
        """
        from pyarrow.parquet import ParquetWriter

        counts, path = FragmentCounts(), self._target(fragment)
        origin = self._origin(fragment)  # before it is read
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

    def find(self, fragment: InputFragment) -> FragmentCounts | None:
        """RETURNS (Optional[FragmentCounts]): What is in the output of a fragment, if it is there
        and made from this input.
        """
        found = _read_origin(self._target(fragment))
        return found[1] if found and found[0] == self._origin(fragment) else None

    def finish(self, fragments: Sequence[InputFragment]) -> FragmentCounts:
        """Write the manifest.

        fragments (Sequence[InputFragment]): All fragments of the corpus, all of them written.
        RETURNS (FragmentCounts): What is in them.
        RAISES (ConnormError): CN108 if it can't be written.
        """
        counts = FragmentCounts()
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
            seal(self.path, {**self.identity, _COUNTS: asdict(counts)}, leave_out=hidden)
        return counts

    def _target(self, fragment: InputFragment) -> Path:
        return self.path / fragment.output_name

    def _origin(self, fragment: InputFragment) -> dict[str, Any]:
        return {**self.identity, _INPUT: describe(fragment.path)}

    def _read(self, path: Path) -> tuple[dict[str, Any], FragmentCounts]:
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


def _read_origin(path: Path) -> tuple[dict[str, Any], FragmentCounts] | None:
    """RETURNS (Optional[Tuple[Dict[str, Any], FragmentCounts]]): What the output of a fragment was
    made from, and its counts; None for any other file.
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


LOCAL = "local"
_RAY = "ray"
ENGINES = (LOCAL, _RAY)


class AnnotatedCorpus(NamedTuple):
    """An annotated corpus.

    path (Path): Its folder.
    fragments (int): How many files it has, besides its manifest.
    earlier (int): How many of them an earlier run had written.
    counts (FragmentCounts): What is in all of them.
    """

    path: Path
    fragments: int
    earlier: int
    counts: FragmentCounts


def annotate_corpus(
    pipeline: str | Path,
    input_path: str | Path,
    output_path: str | Path,
    *,
    engine: str = LOCAL,
    text_field: str = TEXT_FIELD,
    id_field: str = ID_FIELD,
    batch_size: int = 128,
    n_process: int = 1,
    gpu_id: int = -1,
    component: str | None = None,
    ray_address: str | None = None,
) -> AnnotatedCorpus:
    """Run a pipeline over a corpus of any size: `python -m spacy connorm annotate --engine`. For
    each file of the corpus a Parquet file is written, whole or not at all. A run that was killed
    resumes if it is started again. A text that fails gets no mentions, and its row
    says why.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder.
    input_path (Union[str, Path]): A `.parquet`, `.jsonl` or `.jsonl.gz` file, or a folder of them.
    output_path (Union[str, Path]): A new folder, or the one of an earlier run.
    engine (str): "local": processes of this machine. "ray": actors on a Ray cluster, all of whose
        machines must see the pipeline, the input and the output at the same paths.
    text_field (str): The column, or the field of a JSON line, that holds the text.
    id_field (str): The one that holds the text's id. Without such a one, its id is the name of its
        file and its number there.
    batch_size (int): Texts that the pipeline reads together.
    n_process (int): Processes, or actors in the whole cluster; -1 for all cores.
    gpu_id (int): The GPU for the pipeline; -1 for the CPU. With ray, 0 gives each actor one GPU.
    component (Optional[str]): Which concept normalizer's answers to write, if there are several.
    ray_address (Optional[str]): The address of the cluster, or "auto". If None, the cluster that
        this process is connected to or that RAY_ADDRESS names; or else one is started on this
        machine for as long as it is needed.
    RETURNS (AnnotatedCorpus): What was annotated, now and by earlier runs.
    RAISES (ConnormError): CN006 for no process or an empty batch, CN118 for an unknown engine,
        CN700 to CN704 as `load_normalizer`, CN705 if the output is something else, CN713 if the GPU
        cannot be used, CN716 if a process dies, CN719 if one can't start, CN126 without pyarrow,
        CN104 to CN121 for input and output, CN798 and CN799 for ray, and the errors of readers and
        components.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mention at all, CNW790 if texts failed.
    """
    require_choice("engine", engine, ENGINES)
    if ray_address is not None and engine != _RAY:
        raise ConnormError(Errors.CN733.format(option="--ray-address", needed="`--engine ray`"))
    require_processes(n_process)
    require_positive("batch_size", batch_size)
    source, path = Path(input_path), Path(output_path).resolve()
    fields = CorpusFields(text_field, id_field)
    # Another process may be in another folder.
    name = str(Path(pipeline).resolve()) if Path(pipeline).is_dir() else str(pipeline)
    annotator = CorpusAnnotator(
        name, fields=fields, batch_size=batch_size, gpu_id=gpu_id, component=component
    )
    fragments = find_fragments(source)
    _require_elsewhere(path, source)
    output = OutputFolder(path, identify(annotator))
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with only_writer(path):
        written = output.find_written(fragments)
        waiting = [fragment for fragment in fragments if fragment.name not in written]
        texts = require_fields(waiting, fields)
        if waiting:
            run = _annotate_locally
            if engine == _RAY:
                from .ray_cluster import annotate_on_ray

                run = partial(annotate_on_ray, address=ray_address)
            with tqdm(total=texts, unit=" texts", delay=2, leave=False, disable=None) as bar:
                run(annotator, waiting, output, processes=n_process, report=bar.update)
        counts = output.finish(fragments)
    _warn_of(counts, path, component)
    return AnnotatedCorpus(Path(output_path), len(fragments), len(written), counts)


def _require_elsewhere(output: Path, source: Path) -> None:
    require_apart(output, source)
    if output.is_relative_to(source.resolve()):
        raise ConnormError(Errors.CN121.format(output=output, input=source))


def _warn_of(counts: FragmentCounts, path: Path, component: str | None) -> None:
    if counts.texts > counts.failed and not counts.mentions:
        name = component or "concept_normalizer"
        warn(Warnings.CNW701.format(count=counts.texts, component=name))
    if counts.failed:
        first = quote_id(counts.first_failed)
        warn(
            Warnings.CNW790.format(
                path=path, count=counts.failed, first=first, reason=counts.first_error
            )
        )


def _annotate_locally(
    annotator: CorpusAnnotator,
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    *,
    processes: int,
    report: Callable[[int], object],
) -> None:
    """Annotate fragments one after the other. The processes share the batches of each, and go on to
    the next without waiting. This process reads and writes.
    """
    annotator.load()  # forked processes share it
    texts = (batch for fragment in fragments for batch in _read(fragment, annotator.fields))
    work = partial(_work, annotator)
    if processes == 1:
        annotated: Iterator[tuple[AnnotatedBatch, bool]] = map(work, texts)
    else:
        annotated = map_in_processes(work, texts, processes=processes)

    def of_one_fragment() -> Iterator[AnnotatedBatch]:
        # A fragment is whole after its last batch, before the next one is annotated.
        for batch, is_last in annotated:
            yield batch
            report(batch.counts.texts)
            if is_last:
                return

    try:
        for fragment in fragments:
            output.write(fragment, of_one_fragment())
    finally:
        if isinstance(annotated, Generator):
            annotated.close()


def _read(fragment: InputFragment, fields: CorpusFields) -> Iterator[tuple[list[InputText], bool]]:
    """YIELDS (Tuple[List[InputText], bool]): Texts, and whether they are the fragment's last."""
    batches = read_text_batches(fragment, fields)
    texts = next(batches)  # there is at least one
    for following in batches:
        yield texts, False
        texts = following
    yield texts, True


def _work(
    annotator: CorpusAnnotator, texts: tuple[list[InputText], bool]
) -> tuple[AnnotatedBatch, bool]:
    batch, is_last = texts
    return make_batch(annotator.annotate(batch)), is_last
