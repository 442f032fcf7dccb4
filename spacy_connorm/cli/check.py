"""`connorm check` and `connorm save`: check whether a pipeline is as it was saved, and save it."""

from typing import Any

from wasabi import msg

from ..pipeline import save_pipeline
from ..workflows import check
from .app import command, tally
from .options import options_of

_SHOWN = 10


@command("check")
@options_of(check)
def check_cli(**given: Any) -> None:
    """Compare every byte of a pipeline with its checksums, and load it.

    It also checks that the encoder gives texts the vectors that the index has, and lists files
    without a checksum. Use it for a pipeline that was copied, or if you do not trust the disk.

    Example: connorm check training/index
    """
    report = check(**given)
    if report.unlisted:
        names = [path.as_posix() for path in report.unlisted]
        others = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        msg.warn(
            f"Without a checksum, so that changes can't be detected ({tally(files=len(names))}): "
            f"{', '.join(names[:_SHOWN])}{others}. If the pipeline is as it should be, save it "
            f"with `connorm save`, so that every file has one."
        )
    every = "the others" if report.unlisted else "all"
    msg.good(
        f"Nothing is missing and nothing has changed in {report.path}, and the encoder fits it "
        f"({every}, {tally(files=report.checked)})"
    )


@command("save")
@options_of(save_pipeline, help={"output_path": "The folder; may be the same."})
def save_cli(**given: Any) -> None:
    """Save any pipeline, completely or not at all.

    If the run is killed, the previous folder is still there. All files are listed with their
    checksums, so that `connorm check` finds every change. Pipelines written by spaCy itself, such
    as those of `spacy assemble`, have no such list.

    Example: connorm save training/pipeline training/pipeline
    """
    msg.good(f"Saved the pipeline: {save_pipeline(**given)}")
