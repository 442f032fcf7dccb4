"""`connorm check`: compare a pipeline with its checksums."""

import typer
from wasabi import msg

from ..pipeline import check
from .app import command


@command("check")
def check_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
) -> None:
    """Read every byte of the index and of what is saved beside it, and compare it with the
    checksums of when it was written. Loading a pipeline checks large files by samples only: check a
    pipeline that was copied, or whose disk you do not trust.

    Example: python -m spacy connorm check training/index
    """
    folders = check(pipeline)
    msg.good(f"Nothing is missing and nothing has changed in {len(folders)} folders of {pipeline}")
