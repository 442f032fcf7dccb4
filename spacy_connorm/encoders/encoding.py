"""Who encodes the texts of a large ontology: this process, or workers elsewhere."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeAlias

from .normalized import NormalizedEncoder
from .vectors import Raw

# Batches of texts to their raw vectors, in order.
EncodeBatches: TypeAlias = Callable[[Iterable[list[str]]], Iterable[Raw]]
# A context manager for an encoder; inside it, batches are encoded.
Encoding: TypeAlias = Callable[[NormalizedEncoder], AbstractContextManager[EncodeBatches]]


@contextmanager
def encode_here(encoder: NormalizedEncoder) -> Iterator[EncodeBatches]:
    """YIELDS (Callable): Encodes batches in this process, one by one."""
    yield partial(map, encoder.encode)
