"""Files and folders that several commands read or write."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import ConnormError, Errors
from ..index.folder import written_aside


@contextmanager
def replaced(path: Path, *, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Write a folder aside and put it in the place of `path`, which may be an older one of its
    kind but nothing else: whatever is in there goes.

    path (Path): The folder to make or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    YIELDS (Path): Where to write.
    RAISES (ConnormError): CN705 if something else is there, CN405 if it cannot be written.
    """
    require_replaceable(path, is_ours=is_ours)
    with written_aside(path.resolve()) as aside:
        yield aside


def require_replaceable(path: Path, *, is_ours: Callable[[Path], bool]) -> None:
    """Refuse a folder that is to be written where something else is: before hours of work.

    path (Path): The folder to make or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    RAISES (ConnormError): CN705 if something else is there.
    """
    path = path.resolve()
    if path.exists() and not (path.is_dir() and (is_ours(path) or not any(path.iterdir()))):
        raise ConnormError(Errors.CN705.format(path=path))


def read_object(path: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The JSON object in a file; empty if there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Read documents in spaCy's format.

    path (Path): A `.spacy` file.
    vocab (Vocab): The pipeline's.
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
    except Exception as error:  # zlib's, msgpack's or a KeyError: whatever its bytes lead to
        raise ConnormError(Errors.CN706.format(path=path)) from error
    yield from doc_bin.get_docs(vocab)
