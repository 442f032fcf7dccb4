"""Annotating a corpus of many files with a saved pipeline, in processes of this machine or on a Ray
cluster.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ..documents.document import ID_FIELD
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
from ..files.atomic import only_writer, require_apart, write_errors
from .annotation import AnnotationCounts
from .corpus_annotator import CorpusAnnotator
from .corpus_output import AnnotatedBatch, OutputFolder, identify, make_batch
from .pool import map_batches, require_processes
from .texts import (
    TEXT_FIELD,
    CorpusFields,
    InputFragment,
    InputText,
    find_fragments,
    read_text_batches,
    require_fields,
)

LOCAL = "local"
_RAY = "ray"
ENGINES = (LOCAL, _RAY)
_REFUSAL = "refusal"


class AnnotatedCorpus(NamedTuple):
    """An annotated corpus.

    path (Path): Its folder.
    fragments (int): How many files it has, besides its manifest.
    earlier (int): How many of them an earlier run had written.
    counts (AnnotationCounts): What is in all of them.
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
            run: Callable[..., None] = _annotate_locally
            if engine == _RAY:
                run = partial(_annotate_on_ray, address=ray_address)
            with tqdm(total=texts, unit=" texts", delay=2, leave=False, disable=None) as bar:
                run(annotator, waiting, output, processes=n_process, report=bar.update)
        counts = output.finish(fragments)
    _warn_of(counts, path, component)
    return AnnotatedCorpus(Path(output_path), len(fragments), len(written), counts)


def _require_elsewhere(output: Path, source: Path) -> None:
    require_apart(output, source)
    if output.is_relative_to(source.resolve()):
        raise ConnormError(Errors.CN121.format(output=output, input=source))


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
    """Annotate fragments one after the other. The processes share the batches of each, and go on to
    the next without waiting. This process reads and writes.
    """
    annotator.load()  # forked processes share it
    texts = (batch for fragment in fragments for batch in _read(fragment, annotator.fields))
    work = partial(_work, annotator)
    with closing(map_batches(work, texts, processes=processes)) as annotated:

        def of_one_fragment() -> Iterator[AnnotatedBatch]:
            # A fragment is whole after its last batch, before the next one is annotated.
            for batch, is_last in annotated:
                yield batch
                report(batch.counts.texts)
                if is_last:
                    return

        for fragment in fragments:
            output.write(fragment, of_one_fragment())


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


def _annotate_on_ray(
    annotator: CorpusAnnotator,
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    *,
    processes: int,
    address: str | None,
    report: Callable[[int], object],
) -> None:
    """Annotate fragments with actors of Ray Data. Each of them loads the pipeline once, and reads
    and writes whole fragments: only their names and counts pass through the cluster.
    """
    with _connected(address) as ray:
        cores = int(ray.cluster_resources().get("CPU", 1))
        count = min(cores if processes < 0 else processes, cores, len(fragments))
        items = [{"name": each.name, "path": str(each.path.resolve())} for each in fragments]
        dataset = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            _FragmentActor,
            fn_constructor_args=(annotator, output),
            batch_size=1,
            # One fragment at a time: what waits for an actor that is lost waits until there is room
            # for another one.
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
    """Annotates fragments. The pipeline is loaded at the first of them."""

    def __init__(self, annotator: CorpusAnnotator, output: OutputFolder) -> None:
        self._annotator = annotator
        self._output = output

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        (name,), (path,) = batch["name"], batch["path"]
        row = self._annotate(InputFragment(str(name), Path(path)))
        return {key: [value] for key, value in row.items()}

    def _annotate(self, fragment: InputFragment) -> dict[str, Any]:
        texts, refusal = 0, ""
        try:
            # An actor may be lost after it wrote the fragment and before it reported that.
            texts = (self._output.find(fragment) or self._write(fragment)).texts
        except ConnormError as error:
            refusal = str(error)
        except Exception as error:
            refusal = Errors.CN799.format(reason=describe_error(error))
        return {"texts": texts, _REFUSAL: refusal}

    def _write(self, fragment: InputFragment) -> AnnotationCounts:
        texts = read_text_batches(fragment, self._annotator.fields)
        return self._output.write(fragment, map(make_batch, map(self._annotator.annotate, texts)))


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """YIELDS (module): ray, connected to a cluster, unless this process is connected already."""
    require_installed("The engine `ray`", "ray", "ray")
    # Ray would report its usage to its makers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray.data
    from ray.exceptions import RayError

    is_ours = not ray.is_initialized()
    if is_ours:
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, OSError, RuntimeError, ValueError, RayError) as error:
            raise ConnormError(Errors.CN798.format(reason=tell_reason(error))) from error
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it tells about every run, on standard error
    try:
        yield ray
    except RayError as error:
        raise ConnormError(Errors.CN799.format(reason=describe_error(error))) from error
    finally:
        logger.setLevel(level)
        if is_ours:
            ray.shutdown()
