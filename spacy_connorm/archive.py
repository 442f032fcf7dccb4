"""A concept normalizer on disk and in bytes: settings, encoder, index and added synonyms."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly

from .index.folder import TemporaryFolder, pack, seal, unpack, unseal, written_aside

if TYPE_CHECKING:
    from .lookup import ConceptLookup

_SETTINGS = "cfg"


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
    with written_aside(path) as folder:
        lookup.write(folder, exclude=exclude)
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
    """Read a folder that `save` wrote.

    path (Path): The folder.
    lookup (ConceptLookup): Takes the encoder and the index.
    exclude (Collection[str]): Any of "cfg", "encoder", "index".
    owner (Optional[TemporaryFolder]): Kept as long as the index, if the folder is its.
    RETURNS (Dict[str, Any]): The settings; empty if excluded.
    RAISES (ConnormError): CN400, CN401, CN402 if the folder is not sound, CN410 if the index was
        built with another encoder.
    """
    unseal(path)
    lookup.read(path, exclude=exclude, owner=owner)
    if _SETTINGS in exclude or not (path / _SETTINGS).exists():
        return {}
    return srsly.read_json(path / _SETTINGS)


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
    """
    owner = TemporaryFolder()
    unpack(srsly.msgpack_loads(content), owner.path)
    return load(owner.path, lookup, exclude=exclude, owner=owner)
