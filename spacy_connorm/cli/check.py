"""`connorm check` and `connorm save`: whether a pipeline is what was saved, and saving it so."""

from typing import Any

from wasabi import msg

from ..pipeline import save_pipeline
from ..workflows import check
from .app import command
from .options import options_of

_SHOWN = 10


@command("check")
@options_of(check)
def check_cli(**given: Any) -> None:
    """Check a saved pipeline: compare every byte with the checksums of when it was written, load
    it, and check that the files of its index agree with each other. Files without a checksum are
    listed. Check a pipeline that was copied, or whose disk you do not trust.

    Example: python -m spacy connorm check training/index
    """
    report = check(**given)
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


@command("save")
@options_of(save_pipeline, help={"output_path": "The folder; may be the same."})
def save_cli(**given: Any) -> None:
    """Load any pipeline and save it whole or not at all: a killed run leaves what was there. All
    files are listed with their checksums, so that `connorm check` finds every change. Pipelines
    that spaCy itself has written, such as those of `spacy assemble`, have no such list.

    Example: python -m spacy connorm save training/pipeline training/pipeline
    """
    msg.good(f"Saved the pipeline: {save_pipeline(**given)}")
