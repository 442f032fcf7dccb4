"""Config files of commands: read, overridden, resolved; what is wrong with them in one line."""

from collections.abc import Iterator, Sequence
from configparser import InterpolationError
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

from click import UsageError
from spacy.cli._util import parse_config_overrides
from thinc.api import Config, ConfigValidationError

from ..errors import ConnormError, Errors

_REASON_WIDTH = 300


def parse_overrides(arguments: list[str]) -> dict[str, Any]:
    """Read settings given on the command line: `--section.setting value`.

    arguments (List[str]): What a command found behind its own options.
    RETURNS (Dict[str, Any]): The settings by their dotted names.
    RAISES (ConnormError): CN711 for anything else.
    """
    try:
        return parse_config_overrides(arguments)
    except UsageError as error:  # click's, which a Typer that brings its own click lets through
        raise ConnormError(
            Errors.CN711.format(reason=error.format_message().rstrip("."))
        ) from error


def read_config(path: Path, overrides: dict[str, Any]) -> Config:
    """Read a config file.

    path (Path): The file.
    overrides (Dict[str, Any]): Settings by their dotted names.
    RETURNS (Config): The config, variables filled in.
    RAISES (ConnormError): CN100 for a missing file, CN711 for one that is no config, or for
        settings that it has not.
    """
    if not path.is_file():
        raise ConnormError(Errors.CN100.format(path=path))
    with config_errors():
        return Config().from_disk(path, overrides=overrides)


def require_sections(config: Config, sections: Sequence[str]) -> None:
    """RAISES (ConnormError): CN711 if a config lacks one of the sections."""
    missing = [f"[{name}]" for name in sections if not config.get(name)]
    if missing:
        raise ConnormError(Errors.CN711.format(reason=f"it has no {', '.join(missing)}"))


@contextmanager
def config_errors() -> Iterator[None]:
    """Let whatever is wrong with a config be one error.

    RAISES (ConnormError): CN711.
    """
    try:
        yield
    except ConfigValidationError as error:
        reasons = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors or ()]
        reason = ", ".join(reasons) or str(error)
        raise ConnormError(Errors.CN711.format(reason=reason)) from error
    except ConnormError:
        raise
    except (InterpolationError, ImportError, ValueError) as error:
        reason = shorten(str(error), width=_REASON_WIDTH)
        raise ConnormError(Errors.CN711.format(reason=reason)) from error
