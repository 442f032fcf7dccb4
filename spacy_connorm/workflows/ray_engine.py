"""Annotating the fragments of a corpus on a Ray cluster."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors
from .corpus_annotator import CorpusAnnotator, describe_error
from .corpus_input import InputFragment, read_text_batches
from .fragment_files import FragmentCounts, make_batch, write_fragment
from .output_folder import OutputFolder
from .ray_connection import connected, count_workers

_NAME, _PATH = "name", "path"
_REFUSAL = "refusal"


def annotate_on_ray(
    annotator: CorpusAnnotator,
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    *,
    processes: int,
    address: str | None,
    report: Callable[[FragmentCounts], None],
) -> None:
    """Annotate fragments with actors of Ray Data. Each of them loads the pipeline once, and reads
    and writes whole fragments: only their names and counts pass through the cluster. All machines
    must see the input, the output and the pipeline at the same paths.

    annotator (CorpusAnnotator): Annotates.
    fragments (Sequence[InputFragment]): The fragments.
    output (OutputFolder): Where to write.
    processes (int): How many actors; -1 for one per core of the cluster.
    address (Optional[str]): The address of the cluster. If None, the one that this process is
        connected to or that RAY_ADDRESS names, or else one is started on this machine.
    report (Callable): Called with the counts of each fragment.
    RAISES (ConnormError): CN126 without ray, CN798 if there is no cluster, CN799 if the work fails,
        and what an actor raises.
    """
    with connected(address) as ray:
        count = count_workers(ray, processes)
        items = [{_NAME: each.name, _PATH: str(each.path.resolve())} for each in fragments]
        # One fragment at a time: what waits for an actor that is lost waits until there is room for
        # another one.
        actors = ray.data.ActorPoolStrategy(
            size=min(count, len(items)), max_tasks_in_flight_per_actor=1
        )
        dataset = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            _FragmentActor,
            fn_constructor_args=(annotator, output),
            batch_size=1,
            compute=actors,
            num_cpus=1,
            num_gpus=1 if annotator.gpu_id >= 0 else None,
        )
        dataset.context.enable_progress_bars = False
        for row in dataset.iter_rows():
            refusal = row.pop(_REFUSAL)
            if refusal:
                raise ConnormError(refusal)
            report(FragmentCounts(**row))


class _FragmentActor:
    """Annotates fragments. The pipeline is loaded at the first of them."""

    def __init__(self, annotator: CorpusAnnotator, output: OutputFolder) -> None:
        self._annotator = annotator
        self._output = output

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        pairs = zip(batch[_NAME], batch[_PATH], strict=True)
        rows = [self._annotate(InputFragment(str(name), Path(path))) for name, path in pairs]
        return {key: [row[key] for row in rows] for key in rows[0]}

    def _annotate(self, fragment: InputFragment) -> dict[str, Any]:
        counts, refusal = FragmentCounts(), ""
        try:
            # An actor may be lost after it wrote the fragment and before it reported that.
            counts = self._output.find(fragment) or self._write(fragment)
        except ConnormError as error:
            refusal = str(error)
        except Exception as error:
            refusal = Errors.CN799.format(reason=describe_error(error))
        return {_REFUSAL: refusal, **asdict(counts)}

    def _write(self, fragment: InputFragment) -> FragmentCounts:
        texts = read_text_batches(fragment, self._annotator.fields)
        batches = map(make_batch, map(self._annotator.annotate, texts))
        return write_fragment(self._output.target(fragment), batches, self._output.origin(fragment))
