"""The package's own tables."""

import tomllib
from importlib.resources import files
from typing import Any


def read_toml(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file that stands beside a module.

    package (str): The module's `__package__`.
    name (str): The name of the file.
    RETURNS (Dict[str, Any]): Its tables, with tuples instead of lists.
    """
    content = files(package).joinpath(name).read_text(encoding="utf8")
    return {key: _frozen(value) for key, value in tomllib.loads(content).items()}


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
