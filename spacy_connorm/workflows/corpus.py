"""Annotate a corpus of many files with a saved pipeline, in processes on this machine or on a Ray
cluster. Each file becomes a Parquet file, which records what it was made from; a manifest is
written last.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..documents.document import ID_FIELD
from ..errors import Errors, Warnings, quote_id, require_choice, require_range
from ..files.atomic import only_writer, require_apart, write_errors
from ..files.progress import progress_bar
from .annotation import AnnotationCounts
from .corpus_annotator import CorpusAnnotator
from .fragments import InputFragment, find_fragments, require_fields
from .output_folder import AnnotatedBatch, OutputFolder, identify
from .pool import map_batches, require_processes
from .ray_engine import annotate_on_ray
from .texts import TEXT_FIELD

LOCAL = "local"
_RAY = "ray"
ENGINES = (LOCAL, _RAY)


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
        raise Errors.CN733(option="--ray-address", needed="`--engine ray`")
    require_processes(n_process)
    require_range(least=1, batch_size=batch_size)
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
        raise Errors.CN121(output=path, input=source)
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
                run = partial(annotate_on_ray, address=ray_address)
            with progress_bar(unit="texts", total=texts) as bar:
                run(annotator, waiting, output, processes=n_process, report=bar.update)
        counts = output.finish(fragments)
    _warn_of(counts, path)
    return AnnotatedCorpus(Path(output_path), len(fragments), len(written), counts)


def _warn_of(counts: AnnotationCounts, path: Path) -> None:
    if counts.texts > counts.failed and not counts.mentions:
        Warnings.CNW701.warn(count=counts.texts)
    if counts.failed:
        first = quote_id(counts.first_failed)
        Warnings.CNW790.warn(path=path, count=counts.failed, first=first, reason=counts.first_error)


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
    texts = (
        batch for fragment in fragments for batch in chain(annotator.text_batches(fragment), [[]])
    )
    with closing(map_batches(annotator.annotate_batch, texts, processes=processes)) as annotated:

        def of_one_fragment() -> Iterator[AnnotatedBatch]:
            for batch in annotated:
                if not batch.counts.texts:
                    return
                yield batch
                report(batch.counts.texts)

        for fragment in fragments:
            output.write(fragment, of_one_fragment())
