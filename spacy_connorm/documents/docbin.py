"""Documents in spaCy's own format, `.spacy`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import Errors, describe_error, require_ending
from ..files.atomic import atomic_file
from ..files.text import existing_file
from .document import Document


def read_docs(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Read documents.

    path (Union[str, Path]): A `.spacy` file.
    vocab (Vocab): The pipeline's vocabulary.
    YIELDS (Doc): The documents.
    RAISES (ConnormError): CN100 for a missing file, CN105 for a folder, CN220 for a file in another
        format, or for a damaged file when the damage is reached.
    """
    path = existing_file(path)
    mend = f". Convert other formats first: `connorm corpus {path} OUT.spacy`"
    facts = {"path": path, "format": "`.spacy`", "mend": mend}
    # Of any library, depending on the bytes.
    with Errors.CN220.instead_of(Exception, tell=describe_error, **facts):
        yield from DocBin(store_user_data=True).from_disk(path).get_docs(vocab)


def write_docs(docs: Iterable[Doc], path: str | Path) -> None:
    """Write documents for `spacy.Corpus.v1`, completely or not at all.

    docs (Iterable[Doc]): The documents.
    path (Union[str, Path]): A `.spacy` file.
    RAISES (ConnormError): CN708 for another extension, CN105 or CN108 if it cannot be written.
    """
    path = Path(path)
    require_ending(path, [".spacy"])
    doc_bin = DocBin(docs=docs, store_user_data=True)
    with atomic_file(path) as aside:
        doc_bin.to_disk(aside)


@dataclass(frozen=True, slots=True)
class DocBinExporter:
    """Writes documents for `spacy.Corpus.v1`."""

    def render(self, document: Document, changes: Counter[str]) -> bytes:
        # Sending a Doc to another process would send its vocabulary, too.
        return DocBin(docs=[document.doc], store_user_data=True).to_bytes()  # type: ignore[list-item]

    def write(self, rendered: Iterable[bytes], path: Path, changes: Counter[str]) -> None:
        docs = DocBin(store_user_data=True)
        for rendering in rendered:
            docs.merge(DocBin(store_user_data=True).from_bytes(rendering))
        docs.to_disk(path)
