"""Annotating the fragments of a corpus on a Ray cluster."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors, require_installed, tell_reason
from .corpus_annotator import CorpusAnnotator, describe_error
from .corpus_run import FragmentCounts, OutputFolder, make_batch
from .texts import InputFragment, read_text_batches

_REFUSAL = "refusal"


def annotate_on_ray(
    annotator: CorpusAnnotator,
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    *,
    processes: int,
    address: str | None,
    report: Callable[[int], object],
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
    report (Callable): Called with the number of texts of each fragment.
    RAISES (ConnormError): CN126 without ray, CN798 if there is no cluster, CN799 if the work fails,
        and what an actor raises.
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
            refusal = row.pop(_REFUSAL)
            if refusal:
                raise ConnormError(refusal)
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
