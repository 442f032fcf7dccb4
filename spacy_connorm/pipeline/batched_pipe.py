"""A component that reads documents in batches, and writes what it predicts for them."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import minibatch

from ..errors import require_range


class BatchedPipe(Pipe):
    """A component that predicts for a batch of documents without changing them, and then writes the
    results.
    """

    name: str

    @abstractmethod
    def predict(self, docs: Sequence[Doc]) -> list[Any]:
        """Compute the annotations of documents without writing them.

        RETURNS (List[Any]): The annotations of each document.
        """

    @abstractmethod
    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write the annotations that `predict` returned."""

    def __call__(self, doc: Doc) -> Doc:
        """Process a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        RAISES (ConnormError): The errors of `predict`.
        """
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process documents in batches.

        stream (Iterable[Doc]): The documents.
        batch_size (int): The number of documents to process together.
        YIELDS (Doc): The same documents, in order.
        RAISES (ConnormError): CN006 for an empty batch.
        """
        require_range(least=1, batch_size=batch_size)
        error_handler = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:
                error_handler(self.name, self, docs, error)
            else:
                yield from docs
