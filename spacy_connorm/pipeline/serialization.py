"""A concept normalizer on disk and in bytes: settings, encoder, index and synonyms."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_folder
from ..files.folders import pack, read_settled, seal, unpack, unseal
from ..files.temporary import TemporaryFolder

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

_SETTINGS = "cfg"


def save(
    path: Path, settings: dict[str, Any], lookup: "ConceptLookup", *, exclude: Collection[str]
) -> None:
    """Write a folder, whole or not at all, and seal it.

    path (Path): The folder to make or replace.
    settings (Dict[str, Any]): JSON.
    lookup (ConceptLookup): The rest.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    RAISES (ConnormError): CN001 if there is no index, CN405 if it cannot be written.
    """
    with atomic_folder(path) as folder:
        lookup.to_disk(folder, exclude=exclude)
        if _SETTINGS not in exclude:
            srsly.write_json(folder / _SETTINGS, settings)
        seal(folder, {})


def load(
    path: Path,
    lookup: "ConceptLookup",
    *,
    exclude: Collection[str],
    owner: TemporaryFolder | None = None,
) -> dict[str, Any]:
    """Read a folder that `save` wrote. If it fails, the lookup stays as it was. If another process
    replaces the folder meanwhile, the new one is read.

    path (Path): The folder.
    lookup (ConceptLookup): Takes the encoder and the index.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    owner (Optional[TemporaryFolder]): Kept as long as the index, if the folder is its.
    RETURNS (Dict[str, Any]): The settings; empty if excluded.
    RAISES (ConnormError): CN400, CN401, CN402 if the folder is damaged, and those of
        `ConceptLookup.from_disk`.
    """
    return read_settled(path, lambda: _load(path, lookup, exclude, owner))


def _load(
    path: Path,
    lookup: "ConceptLookup",
    exclude: Collection[str],
    owner: TemporaryFolder | None,
) -> dict[str, Any]:
    unseal(path)
    settings: dict[str, Any] = {}
    if _SETTINGS not in exclude and (path / _SETTINGS).exists():
        settings = srsly.read_json(path / _SETTINGS)
    lookup.from_disk(path, exclude=exclude, owner=owner)
    return settings


def dump(settings: dict[str, Any], lookup: "ConceptLookup", *, exclude: Collection[str]) -> bytes:
    """RETURNS (bytes): What `save` writes."""
    owner = TemporaryFolder()
    save(owner.path / "saved", settings, lookup, exclude=exclude)
    return srsly.msgpack_dumps(pack(owner.path / "saved"))


def parse(content: bytes, lookup: "ConceptLookup", *, exclude: Collection[str]) -> dict[str, Any]:
    """Read what `dump` returned; the index is unpacked into a temporary folder and mapped there.

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
