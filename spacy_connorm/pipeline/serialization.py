"""A concept normalizer on disk and in bytes: settings, encoder, index and synonyms; and the pip
requirements of its pipeline's package.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import srsly
from spacy.language import Language
from spacy.util import get_minor_version_range

from ..about import __version__
from ..encoders import required_extra
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
from .settings import Settings

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

_SETTINGS = "cfg"
_ENCODER = "encoder"
_INDEX = "index"
# What `require_extras` wrote before, perhaps for another version.
_OURS = re.compile(r"spacy-connorm\[[a-z,-]+\]>=")


def read_settings(path: Path) -> dict[str, Any]:
    """Read the settings of a component in a saved pipeline.

    path (Path): Its JSON file.
    RETURNS (Dict[str, Any]): Values by name, unchecked.
    RAISES (ConnormError): CN402 for a damaged file.
    """
    try:
        settings = srsly.read_json(path)
    except ValueError as error:
        raise damaged(path, error) from error
    if not isinstance(settings, dict):
        raise damaged(path, "it holds no settings")
    return settings


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
    from ..encoders.protocol import store_encoder
    from ..index.overlay import write_overlay

    encoder = lookup.encoder
    with atomic_folder(path) as folder:
        if _INDEX not in exclude:
            retriever = lookup.retriever
            encoder = retriever.encoder.model
            retriever.index.write(folder / _INDEX)
            write_overlay(retriever.overlay, retriever.index, folder)
        if _ENCODER not in exclude:
            store_encoder(encoder, folder / _ENCODER)
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
    from ..index.concept_index import ConceptIndex
    from ..index.overlay import read_overlay

    manifest = unseal_whole(path)
    if _INDEX not in exclude:
        require_own_parts(path, manifest)
    settings: dict[str, Any] = {}
    if _SETTINGS not in exclude and (path / _SETTINGS).exists():
        settings = read_settings(path / _SETTINGS)
    encoder = lookup.encoder
    if _ENCODER not in exclude:
        encoder = lookup.normalized_encoder.loaded(path / _ENCODER).model
    if _INDEX in exclude:
        lookup.use(encoder)
    else:
        index = ConceptIndex(path / _INDEX, lookup.backend, owner=owner)
        lookup.use(encoder, index, read_overlay(path, index))
    return settings


def dump(settings: dict[str, Any], lookup: "ConceptLookup", *, exclude: Collection[str]) -> bytes:
    """Serialize a concept normalizer.

    RETURNS (bytes): What `save` writes.
    """
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


def require_extras(nlp: Language) -> None:
    """Set which extras of spacy-connorm the pipeline's package requires: those of its encoders,
    indexes and components. `spacy package` finds the plugin by itself, but not its extras.

    nlp (Language): The pipeline.
    """
    from ..linker.lookup import ConceptLookup
    from .assertion_marker import AssertionMarker

    lookups = [getattr(component, "lookup", None) for _, component in nlp.components]
    extras = {
        extra
        for lookup in lookups
        if isinstance(lookup, ConceptLookup)
        for extra in _lookup_extras(lookup)
    }
    extras |= {each.extra for _, each in nlp.components if isinstance(each, AssertionMarker)}
    others = [each for each in nlp.meta.get("requirements", []) if not _OURS.match(each)]
    versions = get_minor_version_range(__version__)
    ours = [f"spacy-connorm[{','.join(sorted(extras))}]{versions}"] if extras else []
    nlp.meta["requirements"] = [*others, *ours]


def _lookup_extras(lookup: "ConceptLookup") -> set[str]:
    # Several are separated by commas. A backend of another package may state none.
    stated = f"{required_extra(lookup.encoder)},{getattr(lookup.backend, 'extra', '')}"
    return set(stated.split(",")) - {""}


class SavedSettings:
    """Writes and reads the settings of a component, its `cfg`."""

    cfg: Settings

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings, whole or not at all.

        path (Union[str, Path]): The folder to make or replace.
        exclude (Iterable[str]): "cfg", for nothing.
        RAISES (ConnormError): CN108 if it cannot be written.
        """
        with atomic_folder(Path(path)) as folder:
            if _SETTINGS not in exclude:
                srsly.write_json(folder / _SETTINGS, self.cfg)
            seal(folder, {})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read what `to_disk` wrote.

        path (Union[str, Path]): The folder.
        exclude (Iterable[str]): "cfg", for nothing.
        RETURNS (Self): The component.
        RAISES (ConnormError): CN400, CN401, CN402 for a damaged folder, CN006 for invalid settings.
        """
        unseal_whole(Path(path))
        if _SETTINGS not in exclude and (Path(path) / _SETTINGS).exists():
            self.cfg = self.cfg.changed(read_settings(Path(path) / _SETTINGS))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Write the settings.

        exclude (Iterable[str]): "cfg", for nothing.
        RETURNS (bytes): The settings.
        """
        return srsly.msgpack_dumps({} if _SETTINGS in exclude else dict(self.cfg))

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Read what `to_bytes` returned.

        content (bytes): The settings.
        exclude (Iterable[str]): "cfg", for nothing.
        RETURNS (Self): The component.
        RAISES (ConnormError): CN402 for damaged bytes, CN006 for invalid settings.
        """
        try:
            settings = srsly.msgpack_loads(content)
        except ValueError as error:
            raise damaged(Path("from_bytes"), error) from error
        if not isinstance(settings, dict):
            raise damaged(Path("from_bytes"), "it holds no settings")
        if _SETTINGS not in exclude:
            self.cfg = self.cfg.changed(settings)
        return self
