"""Annotate a corpus of many files with a saved pipeline, in processes on this machine or on a Ray
cluster. Each file becomes a Parquet file, which records what it was made from; a manifest is
written last.
"""

import hashlib
import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.tokens import Doc

from ..about import __version__
from ..documents.document import ID_FIELD
from ..documents.mentions import split_ids
from ..documents.records import ParquetExporter, row_schema
from ..errors import (
    ConnormError,
    Errors,
    Warnings,
    describe_error,
    quote_id,
    require_choice,
    require_installed,
    require_positive,
    tell_reason,
    warn,
)
from ..files.atomic import atomic_file, only_writer, private, require_apart, write_errors
from ..files.folders import MANIFEST, describe, files_in, seal
from ..files.progress import progress_bar
from ..files.tables import require_distinct_columns
from ..pipeline.loading import find_pipeline_folder
from .annotation import AnnotationCounts, Annotator
from .fragments import (
    InputFragment,
    find_fragments,
    read_text_batches,
    require_column,
    require_fields,
    texts_of_rows,
)
from .memory_zones import MemoryZones
from .pool import map_batches, require_processes
from .texts import TEXT_FIELD, InputText

if TYPE_CHECKING:
    from pandas import DataFrame

ERROR = "error"
Row = dict[str, Any]


@dataclass(kw_only=True)
class CorpusAnnotator(Annotator):
    """Annotates batches of texts, even if some of them fail. Called with a pandas DataFrame, it
    returns another, as required by Spark's `mapInPandas` and Ray's `map_batches`.

    text_field (str): The column with the text.
    """

    text_field: str = TEXT_FIELD
    _zones: MemoryZones = field(init=False, repr=False, default_factory=MemoryZones)

    def __call__(self, table: "DataFrame") -> "DataFrame":
        """Annotate the rows of a table.

        table (DataFrame): A table with a column for the text and, optionally, one for its id.
        RETURNS (DataFrame): A row for each text, in order, with the columns of `corpus_schema`.
        RAISES (ConnormError): CN114 if the column with the text is missing, CN125 for columns of
            the same name, and the errors of `annotate`.
        """
        import pandas
        import pyarrow

        columns = list(map(str, table.columns))
        require_column("table", self.text_field, columns)
        require_distinct_columns("table", columns)
        rows = pyarrow.Table.from_pandas(table, preserve_index=False).to_pylist()
        texts = list(texts_of_rows(rows, self.text_field, self.id_field, name="table"))
        return pandas.DataFrame(self.annotate(texts), columns=corpus_schema().names)

    def annotate(self, texts: Sequence[InputText]) -> list[Row]:
        """Annotate texts. If one of them fails, they are annotated one by one, and only the failing
        text gets no mentions.

        texts (Sequence[InputText]): The texts.
        RETURNS (List[Dict[str, Any]]): A row for each, in order; see `corpus_schema`.
        RAISES (ConnormError): The errors of `load`, and those of components, which concern the
            pipeline, not a text. An OSError or a MemoryError does not concern a text either.
        """
        nlp, _ = self.load()
        # Otherwise, the vocabulary would keep every word of the corpus.
        with self._zones.open(nlp):
            return self._annotate(texts)

    def _annotate(self, texts: Sequence[InputText]) -> list[Row]:
        rows = dict[int, Row]()
        docs = dict[int, Doc]()
        for number, text in enumerate(texts):
            try:
                if text.error:
                    raise ConnormError(text.error)
                docs[number] = self.make_doc(text)
            except (OSError, MemoryError):
                raise
            except Exception as error:
                rows[number] = _failed(text, describe_error(error))
        try:
            rows |= self._rows(docs)
        except (ConnormError, OSError, MemoryError):
            raise
        except Exception:
            for number in docs:
                rows[number] = self._annotate_alone(number, texts[number])
        missing = "the pipeline did not return a document"
        return [rows.get(number) or _failed(text, missing) for number, text in enumerate(texts)]

    def _annotate_alone(self, number: int, text: InputText) -> Row:
        try:
            return self._rows({number: self.make_doc(text)})[number]
        except (ConnormError, OSError, MemoryError):
            raise
        except Exception as error:
            return _failed(text, describe_error(error))

    def _rows(self, docs: dict[int, Doc]) -> dict[int, Row]:
        exporter = ParquetExporter()
        numbered = ((doc, number) for number, doc in docs.items())
        return {
            document.number: {**exporter.render(document, Counter()), ERROR: None}
            for document in self.read(numbered)
        }


def corpus_schema() -> Any:
    """Get the columns of an annotated corpus: those of the format `parquet`, and `error`, the
    reason why a text has no mentions, null for all others.

    RETURNS (pyarrow.Schema): The columns.
    """
    import pyarrow

    return row_schema().append(pyarrow.field(ERROR, pyarrow.string()))


def _failed(text: InputText, error: str) -> Row:
    return {
        "doc_id": text.doc_id,
        "text": text.text,
        "fields": json.dumps(text.fields, ensure_ascii=False),
        "mentions": None,
        ERROR: error,
    }


_KEY = b"spacy_connorm.annotated"
_COUNTS = "counts"
_COUNTED = ("texts", "mentions", "linked", "failed", "first_failed", "first_error")
_INPUT = "input"


class AnnotatedBatch(NamedTuple):
    """Annotated texts of one fragment, in the form exchanged between processes.

    table (pyarrow.Table): A row for each text.
    counts (AnnotationCounts): The counts of these texts.
    """

    table: Any
    counts: AnnotationCounts


def make_batch(rows: Sequence[Row]) -> AnnotatedBatch:
    """Convert annotated texts to a table.

    rows (Sequence[Dict[str, Any]]): From a `CorpusAnnotator`.
    RETURNS (AnnotatedBatch): The table and its counts.
    """
    import pyarrow

    mentions = [each for row in rows for each in row["mentions"] or ()]
    linked = sum(bool(split_ids(each["kb_id"])) for each in mentions)
    counts = AnnotationCounts(len(rows), len(mentions), linked)
    failed = [row for row in rows if row[ERROR]]
    if failed:
        counts.failed = len(failed)
        counts.first_failed, counts.first_error = failed[0]["doc_id"], failed[0][ERROR]
    return AnnotatedBatch(pyarrow.Table.from_pylist(rows, schema=corpus_schema()), counts)


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
            raise ConnormError(Errors.CN705.format(path=self.path))
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
                message = Errors.CN794.format(path=self.path, fragment=name, what=what)
                raise ConnormError(message)
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

        try:
            origin = json.loads(read_metadata(path).metadata[_KEY])
        except (ArrowException, OSError, TypeError, KeyError):
            raise ConnormError(Errors.CN705.format(path=self.path)) from None
        return origin, AnnotationCounts(**origin.pop(_COUNTS))


def _is_hidden(name: str) -> bool:
    """Check whether a killed writer left a file, or the file system owns it."""
    return any(part.startswith(".") for part in name.split("/"))


LOCAL = "local"
_RAY = "ray"
ENGINES = (LOCAL, _RAY)
_REFUSAL = "refusal"


class AnnotatedCorpus(NamedTuple):
    """An annotated corpus.

    path (Path): Its folder.
    fragments (int): The number of its files, without the manifest.
    earlier (int): How many of them were written by an earlier run.
    counts (AnnotationCounts): The counts of all of them.
    """

    path: Path
    fragments: int
    earlier: int
    counts: AnnotationCounts


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
    """Run a pipeline over a corpus of any size: `connorm annotate --engine`. For
    each file of the corpus, a Parquet file is written, completely or not at all. If a run is
    killed, start it again to resume. A text that fails gets no mentions, and its row gives the
    reason.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder.
    input_path (Union[str, Path]): A `.parquet`, `.jsonl` or `.jsonl.gz` file, or a folder of them.
    output_path (Union[str, Path]): A new folder, or the one of an earlier run.
    engine (str): "local": processes on this machine. "ray": actors on a Ray cluster, all of whose
        machines must see the pipeline, the input and the output at the same paths.
    text_field (str): The column, or the field of a JSON line, with the text.
    id_field (str): The column or field with the text's id. Without one, the id is the name of the
        file and the row number.
    batch_size (int): Texts that the pipeline processes together.
    n_process (int): Processes, or actors in the whole cluster; -1 for all cores.
    gpu_id (int): The GPU for the pipeline; -1 for the CPU. With ray, 0 gives each actor its own
        GPU.
    component (Optional[str]): The concept normalizer to use, if there are several.
    ray_address (Optional[str]): The address of the cluster, or "auto". If None, the cluster that
        this process is connected to or that RAY_ADDRESS names; otherwise, one is started on this
        machine and stopped afterwards.
    RETURNS (AnnotatedCorpus): What was annotated, now and by earlier runs.
    RAISES (ConnormError): CN006 for no process or an empty batch, CN118 for an unknown engine,
        CN700 to CN704 as for `load_normalizer`, CN705 if the output is something else, CN713 if the
        GPU cannot be used, CN716 if a process dies, CN719 if one can't start, CN126 without
        pyarrow, CN104 to CN121 for input and output, CN798 and CN799 for ray, and the errors of
        readers and components.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mentions at all, CNW790 if texts failed.
    """
    require_choice("engine", engine, ENGINES)
    if ray_address is not None and engine != _RAY:
        raise ConnormError(Errors.CN733.format(option="--ray-address", needed="`--engine ray`"))
    require_processes(n_process)
    require_positive("batch_size", batch_size)
    source, path = Path(input_path), Path(output_path).resolve()
    # Another process may have a different working directory.
    name = str(Path(pipeline).resolve()) if Path(pipeline).is_dir() else str(pipeline)
    annotator = CorpusAnnotator(
        name,
        text_field=text_field,
        id_field=id_field,
        batch_size=batch_size,
        gpu_id=gpu_id,
        component=component,
    )
    fragments = find_fragments(source)
    require_apart(path, source)
    if path.is_relative_to(source.resolve()):
        raise ConnormError(Errors.CN121.format(output=path, input=source))
    output = OutputFolder(path, identify(annotator))
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with only_writer(path):
        written = output.find_written(fragments)
        waiting = [fragment for fragment in fragments if fragment.name not in written]
        texts = require_fields(waiting, text_field, id_field)
        if waiting:
            run: Callable[..., None] = _annotate_locally
            if engine == _RAY:
                run = partial(_annotate_on_ray, address=ray_address)
            with progress_bar(unit="texts", total=texts) as bar:
                run(annotator, waiting, output, processes=n_process, report=bar.update)
        counts = output.finish(fragments)
    _warn_of(counts, path, component)
    return AnnotatedCorpus(Path(output_path), len(fragments), len(written), counts)


def _warn_of(counts: AnnotationCounts, path: Path, component: str | None) -> None:
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
    """Annotate fragments one after the other. The processes share the batches of each fragment, and
    continue with the next without waiting. This process reads and writes.
    """
    annotator.load()  # forked processes share it
    # An empty batch ends a fragment, which is complete before the next one is annotated.
    texts = (batch for each in fragments for batch in chain(_read(each, annotator), [[]]))
    work = partial(_annotate_batch, annotator)
    with closing(map_batches(work, texts, processes=processes)) as annotated:

        def of_one_fragment() -> Iterator[AnnotatedBatch]:
            for batch in annotated:
                if not batch.counts.texts:
                    return
                yield batch
                report(batch.counts.texts)

        for fragment in fragments:
            output.write(fragment, of_one_fragment())


def _read(fragment: InputFragment, annotator: CorpusAnnotator) -> Iterator[list[InputText]]:
    return read_text_batches(fragment, annotator.text_field, annotator.id_field)


def _annotate_batch(annotator: CorpusAnnotator, texts: list[InputText]) -> AnnotatedBatch:
    return make_batch(annotator.annotate(texts))


def _annotate_on_ray(
    annotator: CorpusAnnotator,
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    *,
    processes: int,
    address: str | None,
    report: Callable[[int], object],
) -> None:
    """Annotate fragments with Ray Data actors. Each of them loads the pipeline once, and reads and
    writes whole fragments: only their names and counts pass through the cluster.
    """
    with _connected(address) as ray:
        cores = int(ray.cluster_resources().get("CPU", 1))
        count = min(cores if processes < 0 else processes, cores, len(fragments))
        items = [{"name": each.name, "path": str(each.path.resolve())} for each in fragments]
        dataset = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            _FragmentActor,
            fn_constructor_args=(annotator, output),
            batch_size=1,
            # One fragment at a time: fragments queued for a lost actor would wait until there is
            # room for another one.
            compute=ray.data.ActorPoolStrategy(size=count, max_tasks_in_flight_per_actor=1),
            num_cpus=1,
            num_gpus=1 if annotator.gpu_id >= 0 else None,
        )
        dataset.context.enable_progress_bars = False
        for row in dataset.iter_rows():
            if row[_REFUSAL]:
                raise ConnormError(row[_REFUSAL])
            report(row["texts"])


class _FragmentActor:
    """Annotates fragments. The pipeline is loaded for the first of them."""

    def __init__(self, annotator: CorpusAnnotator, output: OutputFolder) -> None:
        self._annotator = annotator
        self._output = output

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        (name,), (path,) = batch["name"], batch["path"]
        fragment, texts, refusal = InputFragment(str(name), Path(path)), 0, ""
        annotate = partial(_annotate_batch, self._annotator)
        try:
            batches = map(annotate, _read(fragment, self._annotator))
            texts = self._output.write(fragment, batches).texts
        except ConnormError as error:
            refusal = str(error)
        except Exception as error:
            refusal = Errors.CN799.format(reason=describe_error(error))
        return {"texts": [texts], _REFUSAL: [refusal]}


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """Connect to a cluster, unless this process is already connected.

    YIELDS (module): The module `ray`.
    """
    require_installed("The engine `ray`", "ray", "ray")
    # Ray would report its usage to its developers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray.data
    from ray.exceptions import RayError

    is_ours = not ray.is_initialized()
    if is_ours:
        # Without an address, Ray would join any cluster that was started on this machine, also one
        # of somebody else's that ends before this run does.
        address = address or os.environ.get("RAY_ADDRESS") or "local"
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, OSError, RuntimeError, ValueError, RayError) as error:
            raise ConnormError(Errors.CN798.format(reason=tell_reason(error))) from error
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it reports every run, on standard error
    try:
        yield ray
    except RayError as error:
        raise ConnormError(Errors.CN799.format(reason=describe_error(error))) from error
    finally:
        logger.setLevel(level)
        if is_ours:
            ray.shutdown()
