"""Encoding the names of an ontology on a Ray cluster."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

from ..encoders import choose_device
from ..encoders.normalized import EncodeBatches, Encoding, NormalizedEncoder
from ..encoders.vectors import Raw
from .pool import require_processes
from .ray_connection import connected, count_workers

# How many batches are sent ahead for each worker.
_AHEAD = 2


def make_ray_encoding(
    *, gpu_id: int = -1, n_process: int | None = None, ray_address: str | None = None
) -> Encoding:
    """`spacy-connorm.RayEncoding.v1`: tasks of Ray encode batches. A task that is lost with its
    machine is done again by another one.

    gpu_id (int): 0 gives each task a GPU; -1 for the CPU.
    n_process (Optional[int]): At most how many tasks at once; -1 or None for one per core.
    ray_address (Optional[str]): See `connected`.
    RETURNS (Callable): An encoding, which raises the errors of `connected` once it is entered.
    RAISES (ConnormError): CN006 for no process.
    """
    processes = -1 if n_process is None else n_process
    require_processes(processes)
    return partial(_encoding, gpu_id=gpu_id, processes=processes, address=ray_address)


@contextmanager
def _encoding(
    encoder: NormalizedEncoder, *, gpu_id: int, processes: int, address: str | None
) -> Iterator[EncodeBatches]:
    with connected(address) as ray:
        task = ray.remote(num_cpus=1, num_gpus=1 if gpu_id >= 0 else None)(_encode)
        sent = ray.put(encoder)
        count = count_workers(ray, processes)

        def encode_batches(batches: Iterable[list[str]]) -> Iterator[Raw]:
            waiting: deque[Any] = deque()
            for batch in batches:
                waiting.append(task.remote([sent], batch, gpu_id))
                if len(waiting) >= _AHEAD * count:
                    yield ray.get(waiting.popleft())
            yield from map(ray.get, waiting)

        yield encode_batches


def _encode(sent: list[Any], batch: list[str], gpu_id: int) -> Raw:
    """RETURNS (Raw): What a worker sends back.

    sent (List[ObjectRef]): The encoder; in a list, so that Ray does not fetch it for each batch.
    batch (List[str]): The texts.
    gpu_id (int): The GPU among those that Ray shows to the worker; -1 for the CPU.
    """
    (reference,) = sent
    return _load(reference, gpu_id).encode(batch)


@lru_cache(maxsize=1)
def _load(reference: Any, gpu_id: int) -> NormalizedEncoder:
    """RETURNS (NormalizedEncoder): The encoder of this worker, on its device."""
    import ray

    choose_device(gpu_id)
    return ray.get(reference)
