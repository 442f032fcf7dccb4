"""`connorm check`: whether every byte of a pipeline's index and encoder is as it was written."""

from pathlib import Path

import spacy
import typer
from tqdm import tqdm
from wasabi import msg

from ..errors import ConnormError, Errors
from ..files.folders import MANIFEST, verify
from .app import command


@command("check")
def check_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
) -> None:
    """Read every byte of the index and of what is saved beside it, and compare it with the
    checksums of when it was written. Loading a pipeline does so for small files alone, and for
    blocks of large ones: check a pipeline that was copied, or whose disk you do not trust.

    Example: python -m spacy connorm check training/index
    """
    path = find_pipeline(pipeline)
    folders = check_folders(path)
    msg.good(f"Nothing is missing and nothing has changed in {len(folders)} folders of {path}")


def find_pipeline(name: str) -> Path:
    """RETURNS (Path): The folder of a pipeline or of an installed package.
    RAISES (ConnormError): CN700 if there is neither.
    """
    if spacy.util.is_package(name):
        return spacy.util.get_package_path(name)
    if not Path(name).is_dir():
        raise ConnormError(Errors.CN700.format(name=name))
    return Path(name)


def check_folders(path: Path) -> list[Path]:
    """Check every sealed folder, with a progress bar.

    path (Path): Where to look.
    RETURNS (List[Path]): The folders that have a manifest, at least one.
    RAISES (ConnormError): CN436 if there is none, CN401 and CN402 as `verify`.
    """
    folders = sorted(manifest.parent for manifest in path.rglob(MANIFEST))
    if not folders:
        raise ConnormError(Errors.CN436.format(path=path))
    total = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    with tqdm(
        total=total, unit="B", unit_scale=True, delay=2, leave=False, disable=None
    ) as progress:
        for folder in folders:
            verify(folder, report=progress.update)
    return folders
