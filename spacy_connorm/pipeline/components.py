"""What our components share: how they read many documents at once, and which of them have read a
document, to warn if they are of different pipelines.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import minibatch

from ..errors import require_positive


class BatchedPipe(Pipe):
    """A component that predicts for a batch of documents without changing them, then writes."""

    name: str

    @abstractmethod
    def predict(self, docs: Sequence[Doc]) -> list[Any]:
        """RETURNS (List[Any]): What to write to each document."""

    @abstractmethod
    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write what `predict` returned."""

    def __call__(self, doc: Doc) -> Doc:
        """Process a document.

        doc (Doc): The document.
        RETURNS (Doc): The same.
        RAISES (ConnormError): Those of `predict`.
        """
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process documents, a batch at once.

        stream (Iterable[Doc]): The documents.
        batch_size (int): How many documents are read together.
        YIELDS (Doc): The same documents, in order.
        RAISES (ConnormError): CN006 for an empty batch.
        """
        require_positive("batch_size", batch_size)
        error_handler = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:
                error_handler(self.name, self, docs, error)
            else:
                yield from docs


class Asker(Protocol):
    """Asks a concept normalizer for the names that it finds."""

    def warn_of_others(self, normalizers: Sequence[Any]) -> None:
        """Warn if a document was read by these normalizers, and it asks none of them."""


# Not stored on the document: it is lost with it, and other processes do not see it.
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
