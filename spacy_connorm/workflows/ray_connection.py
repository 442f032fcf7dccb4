"""The Ray cluster that works."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import ConnormError, Errors, require_installed, tell_reason
from .corpus_annotator import describe_error

_CPU = "CPU"


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Connect to a cluster, unless this process is connected already.

    address (Optional[str]): Its address. If None, the cluster that this process is connected to or
        that RAY_ADDRESS names, or else one is started on this machine.
    YIELDS (module): ray.
    RAISES (ConnormError): CN126 without ray, CN798 if there is no cluster, CN799 if the work fails.
    """
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


def count_workers(ray: Any, wanted: int) -> int:
    """RETURNS (int): How many workers have a core of the cluster.

    ray (module): From `connected`.
    wanted (int): At most so many; -1 for one per core.
    """
    cores = int(ray.cluster_resources().get(_CPU, 1))
    return cores if wanted < 0 else min(wanted, cores)
