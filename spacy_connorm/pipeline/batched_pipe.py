"""How components read many documents at once."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
