"""Components on disk and in bytes: their settings, and the parts that some add. Also the pip
requirements of a pipeline's package.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Self

import srsly
from spacy.language import Language
from spacy.util import get_minor_version_range

from ..about import __version__
from ..errors import Errors
from ..files.atomic import TemporaryFolder, atomic_folder
from ..files.folders import (
    damaged,
    pack,
    read_settled,
    require_own_parts,
    seal,
    unpack,
    unseal,
)
from .settings import Settings

_SETTINGS = "cfg"
INDEX = "index"
# An earlier result of `require_extras`, perhaps for another version.
_OURS, _VERSIONS = "spacy-connorm[", "]>="


def read_settings(path: Path) -> dict[str, Any]:
    """Read the settings of a component in a saved pipeline.

    path (Path): Its JSON file.
    RETURNS (Dict[str, Any]): Values by name, unchecked.
    RAISES (ConnormError): CN402 for a damaged file.
    """
    with Errors.CN402.instead_of(ValueError, path=path):
        settings = srsly.read_json(path)
    if not isinstance(settings, dict):
        raise damaged(path, "it holds no settings")
    return settings


def require_extras(nlp: Language) -> None:
    """Set the extras of spacy-connorm that the pipeline's package requires: those of its encoders,
    indexes and components. `spacy package` finds the plugin by itself, but not its extras.

    nlp (Language): The pipeline.
    """
    saved: list[Any] = [
        component for _, component in nlp.components if isinstance(component, SavedComponent)
    ]
    extras = {extra for component in saved for extra in component.extras}
    others = [
        requirement
        for requirement in nlp.meta.get("requirements", [])
        if not (requirement.startswith(_OURS) and _VERSIONS in requirement)
    ]
    versions = get_minor_version_range(__version__)
    ours = [f"spacy-connorm[{','.join(sorted(extras))}]{versions}"] if extras else []
    nlp.meta["requirements"] = [*others, *ours]


class SavedComponent:
    """A component that can be written to a folder or to bytes, and read back, completely or not at
    all: its settings, `cfg`, and the parts added by `write_parts` and `read_parts`.
    """

    cfg: Settings

    @property
    def extras(self) -> Collection[str]:
        """The extras of spacy-connorm that a package with this component must install.

        RETURNS (Collection[str]): Their names; most components need none.
        """
        return ()

    def write_parts(self, folder: Path, exclude: Collection[str]) -> None:
        """Write the component's parts other than its settings. Most components have none.

        folder (Path): A folder that is moved into place later.
        exclude (Collection[str]): The names of parts to leave out.
        """

    def read_parts(
        self, folder: Path, exclude: Collection[str], owner: TemporaryFolder | None
    ) -> None:
        """Read the parts written by `write_parts`.

        folder (Path): The folder.
        exclude (Collection[str]): The names of parts to leave unchanged.
        owner (Optional[TemporaryFolder]): Owns the folder, if it is temporary.
        """

    def accept(self, cfg: Settings) -> None:
        """Use settings that were read.

        cfg (Settings): All settings, checked.
        """
        self.cfg = cfg

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write everything that the component needs, completely or not at all.

        path (Union[str, Path]): The folder to create or replace.
        exclude (Iterable[str]): "cfg" to leave out the settings; for a concept normalizer, also
            "encoder" and "index".
        RAISES (ConnormError): CN001 for a concept normalizer before `initialize`, CN108 if it
            cannot be written.
        """
        left_out = list(exclude)
        with atomic_folder(Path(path)) as folder:
            self.write_parts(folder, left_out)
            if _SETTINGS not in left_out:
                srsly.write_json(folder / _SETTINGS, self.cfg)
            seal(folder, {})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read a folder written by `to_disk`. If this fails, the component does not change; if
        another process replaces the folder meanwhile, the new one is read.

        path (Union[str, Path]): The folder.
        exclude (Iterable[str]): As for `to_disk`.
        RETURNS (Self): The component.
        RAISES (ConnormError): CN400 to CN402 for a damaged folder, CN410 for an index of another
            encoder, CN318 for an encoder of another kind, CN430 for an index from another build,
            CN005, CN006, CN118 and CN421 for settings as in a config.
        """
        self.read_folder(Path(path), list(exclude))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the component.

        exclude (Iterable[str]): As for `to_disk`.
        RETURNS (bytes): The content of the folder that `to_disk` writes.
        RAISES (ConnormError): The errors of `to_disk`.
        """
        owner = TemporaryFolder()
        self.to_disk(owner.path / "saved", exclude=exclude)
        return srsly.msgpack_dumps(pack(owner.path / "saved"))

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Restore the component from bytes. An index is unpacked into a temporary folder and mapped
        there.

        content (bytes): The result of `to_bytes`.
        exclude (Iterable[str]): As for `to_disk`.
        RETURNS (Self): The component.
        RAISES (ConnormError): CN402 for damaged bytes, and the errors of `from_disk`.
        """
        owner = TemporaryFolder()
        try:
            unpack(srsly.msgpack_loads(content), owner.path)
        except (ValueError, TypeError, AttributeError) as error:
            reason = f"`to_bytes` did not return them ({error})"
            raise damaged(Path("from_bytes"), reason) from error
        self.read_folder(owner.path, list(exclude), owner)
        return self

    def read_folder(
        self, path: Path, exclude: Collection[str], owner: TemporaryFolder | None = None
    ) -> None:
        """Read a folder, and change the component.

        path, exclude, owner: As for `from_disk` and `read_parts`.
        """

        def read() -> dict[str, Any]:
            manifest = unseal(path, whole=True)
            if INDEX not in exclude:
                require_own_parts(path, manifest)
            self.read_parts(path, exclude, owner)
            is_there = _SETTINGS not in exclude and (path / _SETTINGS).exists()
            return read_settings(path / _SETTINGS) if is_there else {}

        self.accept(self.cfg.changed(read_settled(path, read)))
