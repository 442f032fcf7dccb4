"""`connorm check`: check that a saved pipeline is what was saved."""

import typer
from wasabi import msg

from ..workflows import check
from .app import command

_SHOWN = 10


@command("check")
def check_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
) -> None:
    """Check a saved pipeline: compare every byte with the checksums of when it was written, load
    it, and check that the files of its index agree with each other. Files without a checksum are
    listed. Check a pipeline that was copied, or whose disk you do not trust.

    Example: python -m spacy connorm check training/index
    """
    report = check(pipeline)
    if report.unlisted:
        names = [each.as_posix() for each in report.unlisted]
        others = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        msg.warn(
            f"{len(names):,} files have no checksum, so nobody can tell whether they have changed: "
            f"{', '.join(names[:_SHOWN])}{others}. If the pipeline is as it should be, save it "
            f"with `python -m spacy connorm save`: then every file has one."
        )
    every = "all" if not report.unlisted else "the other"
    msg.good(
        f"Nothing is missing and nothing has changed in {every} {report.checked:,} files of "
        f"{report.path}, and they agree with each other"
    )
