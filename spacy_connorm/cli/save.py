"""`connorm save`: save a pipeline whole or not at all."""

from pathlib import Path

import typer
from wasabi import msg

from ..pipeline import save_pipeline
from .app import command


@command("save")
def save_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The folder; may be the same."),
) -> None:
    """Load any pipeline and save it whole or not at all: a killed run leaves what was there. All
    files are listed with their checksums, so that `connorm check` finds every change. Pipelines
    that spaCy itself has written, such as those of `spacy assemble`, have no such list.

    Example: python -m spacy connorm save training/pipeline training/pipeline
    """
    path = save_pipeline(pipeline, output_path)
    msg.good(f"Saved the pipeline: {path}")
