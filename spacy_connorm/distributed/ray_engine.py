"""Annotating the fragments of a corpus on a Ray cluster."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors
from .corpus_annotator import CorpusAnnotator, describe_error
from .corpus_input import InputFragment, read_text_batches
from .fragment_files import FragmentCounts, make_batch, write_fragment
from .output_folder import OutputFolder

_NAME, _PATH = "name", "path"
_REFUSAL = "refusal"
_CPU = "CPU"


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
    processes (int): How many actors; -1 for one a core of the cluster.
    address (Optional[str]): The address of the cluster. If None, the one that this process is
        connected to or that RAY_ADDRESS names, or else one is started on this machine.
    report (Callable): Called with the counts of each fragment.
    RAISES (ConnormError): CN797 without ray, CN798 if there is no cluster, CN799 if the work fails,
        and what an actor raises.
    """
    with _connected(address) as ray:
        cores = int(ray.cluster_resources().get(_CPU, 1))
        count = cores if processes < 0 else min(processes, cores)
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
            # An attempt that was lost may have been the last moment before it told so.
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


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """Connect to a cluster, unless this process is connected already.

    address (Optional[str]): Its address, if known.
    YIELDS (module): ray.
    """
    if find_spec("ray") is None:
        raise ConnormError(Errors.CN797)
    # Ray would tell its makers that it is used.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray.data
    from ray.exceptions import RayError

    is_ours = not ray.is_initialized()
    if is_ours:
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, OSError, RuntimeError, ValueError, RayError) as error:
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise ConnormError(Errors.CN798.format(reason=reason)) from error
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
