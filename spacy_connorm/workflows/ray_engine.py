"""Annotate the files of a corpus on a Ray cluster."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors, describe_error, require_installed
from .corpus_annotator import CorpusAnnotator
from .fragments import InputFragment
from .output_folder import OutputFolder

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
    """Annotate fragments with Ray Data actors. Each of them loads the pipeline once, and reads and
    writes whole fragments: only their names and counts pass through the cluster.
    """
    with _connected(address) as ray:
        cores = int(ray.cluster_resources().get("CPU", 1))
        count = min(cores if processes < 0 else processes, cores, len(fragments))
        items = [
            {"name": fragment.name, "path": str(fragment.path.resolve())} for fragment in fragments
        ]
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
        try:
            batches = map(self._annotator.annotate_batch, self._annotator.text_batches(fragment))
            texts = self._output.write(fragment, batches).texts
        except ConnormError as error:
            refusal = str(error)
        except Exception as error:
            refusal = Errors.CN799.format(reason=describe_error(error))
        return {"texts": [texts], _REFUSAL: [refusal]}


@contextmanager
def _own_handler(number: signal.Signals) -> Iterator[None]:
    """Keep this process's handler of a signal: Ray's would abort the process with a C++ stack."""
    handler = signal.getsignal(number)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(number, handler)


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
        refused = Errors.CN798.instead_of(OSError, RuntimeError, ValueError, RayError)
        with refused, _own_handler(signal.SIGTERM):
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it reports every run, on standard error
    try:
        with Errors.CN799.instead_of(RayError, tell=describe_error):
            yield ray
    finally:
        logger.setLevel(level)
        if is_ours:
            ray.shutdown()
