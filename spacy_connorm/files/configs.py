"""Read config files with overrides, and report their errors in one line."""

from collections.abc import Iterator, Mapping
from configparser import InterpolationError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thinc.api import Config, ConfigValidationError

from ..errors import Errors
from .text import existing_file


def read_config(source: str | Path | Config, overrides: Mapping[str, Any] | None = None) -> Config:
    """Read a config file.

    source (Union[str, Path, Config]): The file; a config is returned as it is, or with the
        overrides.
    overrides (Optional[Mapping[str, Any]]): Settings by their dotted names.
    RETURNS (Config): The config, with its variables filled in.
    RAISES (ConnormError): CN100 for a missing file, CN711 for an invalid one or for an unknown
        setting.
    """
    if isinstance(source, Config):
        if not overrides:
            return source
        with config_errors():
            return Config().from_str(source.to_str(), overrides=dict(overrides))
    path = existing_file(source)
    with config_errors():
        return Config().from_disk(path, overrides=dict(overrides or {}))


@contextmanager
def config_errors() -> Iterator[None]:
    """Turn every error of reading or resolving a config into one message.

    RAISES (ConnormError): CN711.
    """
    with (
        Errors.CN711.instead_of(InterpolationError, ImportError, ValueError),
        Errors.CN711.instead_of(ConfigValidationError, tell=list_reasons),
    ):
        yield


def list_reasons(error: ConfigValidationError) -> str:
    """Tell what is wrong with a config, without the config itself.

    RETURNS (str): The settings that are wrong, and why.
    """
    reasons = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors or ()]
    return ", ".join(reasons) or str(error)
