"""Change all of a lookup, or nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .lookup import ConceptLookup


@contextmanager
def changing(lookup: "ConceptLookup") -> Iterator[None]:
    """Change or read both lookups of a cascade as one. Other threads wait before they change it. If
    the block fails, encoders, indexes and synonyms are as they were before it.

    lookup (ConceptLookup): A lookup or a cascade.
    """
    with lookup._changing:
        before = [(each, each._encoder, each._retriever) for each in lookup.lookups]
        try:
            yield
        except BaseException:
            for each, encoder, retriever in before:
                each._encoder, each._retriever = encoder, retriever
            raise
