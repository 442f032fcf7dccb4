"""What components save that have nothing but settings."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import srsly

from ..files.atomic import atomic_folder
from ..files.folders import damaged, seal, unseal_whole
from .settings import Settings

_SETTINGS = "cfg"


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
