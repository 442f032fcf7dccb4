"""Which components have processed a document, to warn if they are of different pipelines.
It is not stored on the document: it is lost with it, and other processes do not see it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from spacy.tokens import Doc


class Asker(Protocol):
    """Asks a concept normalizer for the names that it finds."""

    def warn_of_others(self, normalizers: Sequence[Any]) -> None:
        """Warn if a document was read by these normalizers, and it asks none of them."""


_ASKERS: WeakKeyDictionary[Doc, WeakSet[Asker]] = WeakKeyDictionary()
_NORMALIZERS: WeakKeyDictionary[Doc, WeakSet[Any]] = WeakKeyDictionary()


def asked_for(docs: Iterable[Doc], asker: Asker) -> None:
    """Note who asked for the mentions of documents.

    docs (Iterable[Doc]): The documents.
    asker (Asker): What asked.
    """
    for doc in docs:
        _ASKERS.setdefault(doc, WeakSet()).add(asker)


def read_by(doc: Doc, normalizer: Any) -> None:
    """Note that a concept normalizer has read a document.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): The component.
    WARNS (ConnormWarning): CNW004, once, if the mentions are names of another pipeline's.
    """
    _NORMALIZERS.setdefault(doc, WeakSet()).add(normalizer)
    for asker in list(_ASKERS.get(doc, ())):
        asker.warn_of_others(normalizers_of(doc))


def normalizers_of(doc: Doc) -> list[Any]:
    """RETURNS (List[ConceptNormalizer]): Those that have read a document in this process."""
    return list(_NORMALIZERS.get(doc, ()))
