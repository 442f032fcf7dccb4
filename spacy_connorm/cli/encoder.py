"""`connorm encoder`: save a pretrained transformer to a folder."""

from pathlib import Path

import typer
from wasabi import msg

from ..training import save_encoder
from .app import command


@command("encoder")
def encoder_cli(
    name: str = typer.Argument(..., help="A name on the Hugging Face hub, or a folder."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The folder to write."),
) -> None:
    """Save a pretrained transformer and its tokenizer, so that a machine without a network can use
    them: TransformerEncoder.v1 with OUT as its `name`.

    Example: python -m spacy connorm encoder cambridgeltl/SapBERT-from-PubMedBERT-fulltext sapbert
    """
    path, width = save_encoder(name, output_path)
    msg.good(f"Wrote the transformer, whose vectors are {width} wide: {path}")
