"""Read documents in spaCy's own format."""

from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import ConnormError, Errors


def read_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Read documents in spaCy's format.

    path (Path): A `.spacy` file.
    vocab (Vocab): The pipeline's vocabulary.
    YIELDS (Doc): The documents.
    RAISES (ConnormError): CN100 for a missing file, CN105 for a folder, CN706 for a file in another
        format.
    """
    if path.is_dir():
        raise ConnormError(Errors.CN105.format(path=path))
    if not path.is_file():
        raise ConnormError(Errors.CN100.format(path=path))
    try:
        doc_bin = DocBin(store_user_data=True).from_disk(path)
    except Exception as error:  # zlib's, msgpack's or a KeyError, depending on the bytes
        raise ConnormError(Errors.CN706.format(path=path)) from error
    yield from doc_bin.get_docs(vocab)
