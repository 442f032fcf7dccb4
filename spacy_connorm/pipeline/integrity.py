"""Checking a saved pipeline byte by byte."""

from pathlib import Path

import spacy
from tqdm import tqdm

from ..errors import ConnormError, Errors
from ..files.folders import MANIFEST, verify


def check(pipeline: str | Path) -> list[Path]:
    """Compare every byte of a pipeline's index and encoder with the checksums of when they were
    written: `python -m spacy connorm check`. Loading a pipeline checks large files by samples only.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder.
    RETURNS (List[Path]): The folders that were checked: those with a manifest, at least one.
    RAISES (ConnormError): CN700 if there is no such pipeline, CN436 if no folder has a manifest,
        CN401 for another format version, CN402 for what is missing or differs.
    """
    path = _find(str(pipeline))
    folders = sorted(manifest.parent for manifest in path.rglob(MANIFEST))
    if not folders:
        raise ConnormError(Errors.CN436.format(path=path))
    total = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    with tqdm(total=total, unit="B", unit_scale=True, delay=2, leave=False, disable=None) as bar:
        for folder in folders:
            verify(folder, report=bar.update)
    return folders


def _find(name: str) -> Path:
    if spacy.util.is_package(name):
        return spacy.util.get_package_path(name)
    if not Path(name).is_dir():
        raise ConnormError(Errors.CN700.format(name=name))
    return Path(name)
