"""What belongs to packages: our own tables and queries, files beside a module, and versions."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any


def read_package_text(package: str, name: str) -> str:
    """Read a file.

    package (str): The module's `__package__`.
    name (str): The name of the file.
    RETURNS (str): Its content.
    """
    return files(package).joinpath(name).read_text(encoding="utf8")


def read_toml(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file.

    package (str): The module's `__package__`.
    name (str): The name of the file.
    RETURNS (Dict[str, Any]): Its tables, with tuples instead of lists.
    """
    return _frozen(tomllib.loads(read_package_text(package, name)))


def installed_version(package: str) -> str:
    """Read the version of an installed package, for what was made with it.

    package (str): The name of its distribution.
    RETURNS (str): The version; empty if it is not installed.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
