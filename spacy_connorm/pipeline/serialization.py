"""A concept normalizer on disk and in bytes: settings, encoder, index and added synonyms."""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from thinc.api import Model

from ..encoders import replica
from ..errors import ConnormError, Errors
from ..files.atomic import atomic_folder
from ..files.folders import pack, seal, unpack, unseal
from ..files.temporary import TemporaryFolder

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

_SETTINGS = "cfg"
_ENCODER = "encoder"
_INDEX = "index"
_MEMO = "memo"


def save(
    path: Path, settings: dict[str, Any], lookup: "ConceptLookup", *, exclude: Collection[str]
) -> None:
    """Write a folder aside, seal it, and put it in the place of `path`.

    path (Path): The folder to make or replace.
    settings (Dict[str, Any]): JSON.
    lookup (ConceptLookup): The rest.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    RAISES (ConnormError): CN001 if there is no index, CN405 if it cannot be written.
    """
    with atomic_folder(path) as folder:
        if _ENCODER not in exclude:
            lookup.encoder.to_disk(folder / _ENCODER)
        if _INDEX not in exclude:
            copy = _hand_over if lookup.index.is_temporary else shutil.copy2
            shutil.copytree(lookup.index.folder, folder / _INDEX, copy_function=copy)
            lookup.overlay.write(folder)
            if lookup.retriever.memo is not None:
                shutil.copytree(lookup.retriever.memo.folder, folder / _MEMO)
        if _SETTINGS not in exclude:
            srsly.write_json(folder / _SETTINGS, settings)
        seal(folder, {})


def _hand_over(source: str, target: str) -> None:
    """Give a temporary file a second name, which stays, rather than copy gigabytes; only one, since
    two folders that stay must not change with each other.
    """
    try:
        if Path(source).stat().st_nlink == 1:
            Path(target).hardlink_to(source)
            return
    except OSError:
        pass  # another file system, or one without links
    shutil.copy2(source, target)


def load(
    path: Path,
    lookup: "ConceptLookup",
    *,
    exclude: Collection[str],
    owner: TemporaryFolder | None = None,
) -> dict[str, Any]:
    """Read a folder that `save` wrote; the index is mapped, not loaded. If that fails, the lookup
    stays as it was.

    path (Path): The folder.
    lookup (ConceptLookup): Takes the encoder and the index.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    owner (Optional[TemporaryFolder]): Kept as long as the index, if the folder is its.
    RETURNS (Dict[str, Any]): The settings; empty if excluded.
    RAISES (ConnormError): CN400, CN401, CN402 if the folder is not sound, CN408 if the index lacks
        a search of the sieve, CN410 if it was built with another encoder.
    """
    from ..index.concept_index import ConceptIndex
    from ..index.overlay import SynonymOverlay
    from ..linker.memo import Memo

    unseal(path)
    settings: dict[str, Any] = {}
    if _SETTINGS not in exclude and (path / _SETTINGS).exists():
        settings = srsly.read_json(path / _SETTINGS)
    encoder = lookup.encoder
    if _ENCODER not in exclude:
        encoder = _read_encoder(path / _ENCODER, encoder)
    if _INDEX in exclude:
        lookup.use(encoder)
    else:
        index = ConceptIndex(path / _INDEX, lookup.backend, owner=owner)
        memo = Memo(path / _MEMO) if (path / _MEMO).is_dir() else None
        lookup.use(encoder, index, SynonymOverlay.read(path, index), memo)
    return settings


def _read_encoder(path: Path, model: Model) -> Model:
    if not path.is_file():
        raise ConnormError(Errors.CN402.format(path=path, reason="it is missing"))
    encoder = replica(model)
    encoder.from_disk(path)
    return encoder


def dump(settings: dict[str, Any], lookup: "ConceptLookup", *, exclude: Collection[str]) -> bytes:
    """RETURNS (bytes): What `save` writes."""
    owner = TemporaryFolder()
    save(owner.path / "saved", settings, lookup, exclude=exclude)
    return srsly.msgpack_dumps(pack(owner.path / "saved"))


def parse(content: bytes, lookup: "ConceptLookup", *, exclude: Collection[str]) -> dict[str, Any]:
    """Read what `dump` gave; the index is put into a temporary folder and mapped there.

    content (bytes): From `dump`.
    lookup (ConceptLookup): Takes the encoder and the index.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    RETURNS (Dict[str, Any]): The settings; empty if excluded.
    RAISES (ConnormError): CN402 if the bytes are damaged, and those of `load`.
    """
    owner = TemporaryFolder()
    try:
        unpack(srsly.msgpack_loads(content), owner.path)
    except (ValueError, TypeError, AttributeError) as error:
        reason = f"`to_bytes` did not give them ({error})"
        raise ConnormError(Errors.CN402.format(path="from_bytes", reason=reason)) from error
    return load(owner.path, lookup, exclude=exclude, owner=owner)
