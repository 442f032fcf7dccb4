"""A concept normalizer on disk and in bytes: settings, encoder, index and synonyms."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly

from ..files.atomic import TemporaryFolder, atomic_folder
from ..files.folders import (
    damaged,
    pack,
    read_settled,
    require_own_parts,
    seal,
    unpack,
    unseal_whole,
)

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

_SETTINGS = "cfg"
_INDEX = "index"


def save(
    path: Path, settings: dict[str, Any], lookup: "ConceptLookup", *, exclude: Collection[str]
) -> None:
    """Write a folder, whole or not at all, and seal it.

    path (Path): The folder to make or replace.
    settings (Dict[str, Any]): JSON.
    lookup (ConceptLookup): The rest.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    RAISES (ConnormError): CN001 if there is no index, CN108 if it cannot be written.
    """
    from ..linker.lookup_files import write_lookup

    with atomic_folder(path) as folder:
        write_lookup(lookup, folder, exclude=exclude)
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
    owner (Optional[TemporaryFolder]): Kept as long as index and encoder, if the folder is its.
    RETURNS (Dict[str, Any]): The settings; empty if excluded.
    RAISES (ConnormError): CN400, CN401, CN402 if the folder is damaged, CN430 if its index is of
        another build, and those of `ConceptLookup.use`.
    """
    return read_settled(path, lambda: _load(path, lookup, exclude, owner))


def _load(
    path: Path,
    lookup: "ConceptLookup",
    exclude: Collection[str],
    owner: TemporaryFolder | None,
) -> dict[str, Any]:
    from ..linker.lookup_files import read_lookup

    manifest = unseal_whole(path)
    if _INDEX not in exclude:
        require_own_parts(path, manifest)
    settings: dict[str, Any] = {}
    if _SETTINGS not in exclude and (path / _SETTINGS).exists():
        settings = read_settings(path / _SETTINGS)
    read_lookup(lookup, path, exclude=exclude, owner=owner)
    return settings


def read_settings(path: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The settings of a component in a saved pipeline.
    RAISES (ConnormError): CN402 for a damaged file.
    """
    try:
        settings = srsly.read_json(path)
    except ValueError as error:
        raise damaged(path, error) from error
    if not isinstance(settings, dict):
        raise damaged(path, "it holds no settings")
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
        raise damaged(Path("from_bytes"), reason) from error
    return load(owner.path, lookup, exclude=exclude, owner=owner)
