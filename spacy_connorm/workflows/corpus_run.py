"""Annotating a corpus of many files with a saved pipeline."""

from functools import partial
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from tqdm import tqdm

from ..documents.document import ID_FIELD
from ..errors import ConnormError, Errors, Warnings, quote_id, require_positive, warn
from ..files.atomic import only_writer, require_apart, write_errors
from .corpus_annotator import CorpusAnnotator
from .corpus_input import CorpusFields, find_fragments, require_fields
from .fragment_files import FragmentCounts
from .inputs import TEXT_FIELD
from .local_engine import annotate_locally
from .output_folder import OutputFolder, identify
from .pool import require_processes
from .ray_engine import annotate_on_ray

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
    if engine not in ENGINES:
        known = ", ".join(ENGINES)
        raise ConnormError(Errors.CN118.format(setting="engine", value=engine, known=known))
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
            with _Progress(texts) as progress:
                run = annotate_locally
                if engine == _RAY:
                    run = partial(annotate_on_ray, address=ray_address)
                run(annotator, waiting, output, processes=n_process, report=progress.report)
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


class _Progress:
    """A bar that shows texts and mentions a second."""

    def __init__(self, texts: int | None) -> None:
        self._bar = tqdm(total=texts, unit=" texts", delay=2, leave=False, disable=None)
        self._start = monotonic()
        self._mentions = 0

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def report(self, counts: FragmentCounts) -> None:
        self._mentions += counts.mentions
        speed = self._mentions / max(monotonic() - self._start, 1e-9)
        self._bar.set_postfix_str(f"{speed:,.0f} mentions/s", refresh=False)
        self._bar.update(counts.texts)
