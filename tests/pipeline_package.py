"""Packages of pipelines."""

import warnings
from pathlib import Path
from typing import Any

from spacy.cli.package import package


def make_package(pipeline: Path, folder: Path, name: str, version: str, **options: Any) -> Path:
    """RETURNS (Path): What `spacy package` makes of a saved pipeline, in a folder of the folder."""
    options = {"create_sdist": False, "create_wheel": False, **options}
    with warnings.catch_warnings():
        # It leaves files open.
        warnings.simplefilter("ignore", ResourceWarning)
        package(pipeline, folder, name=name, version=version, **options)
    (made,) = folder.glob(f"*_{name}-{version}")
    return made
