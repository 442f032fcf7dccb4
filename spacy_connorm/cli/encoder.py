"""`connorm encoder`: a pretrained transformer, as it comes, to a folder."""

from pathlib import Path

import typer
from wasabi import msg

from ..encoders.transformer import TransformerEncoder
from ..files.folders import read_object, replaced
from .app import command

_CONFIG = "config.json"
_PROBE = "heart attack"


@command("encoder")
def encoder_cli(
    name: str = typer.Argument(..., help="A name on the Hugging Face hub, or a folder."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The folder to write."),
) -> None:
    """Save a pretrained transformer and its tokenizer, so that a machine without a network can use
    them: TransformerEncoder.v1 with OUT as its `name`.

    Example: python -m spacy connorm encoder cambridgeltl/SapBERT-from-PubMedBERT-fulltext sapbert
    """
    width = save_encoder(name, output_path)
    msg.good(f"Wrote the transformer, whose vectors are {width} wide: {output_path}")


def save_encoder(name: str, path: Path) -> int:
    """Save a pretrained transformer and its tokenizer, and see that they can be used.

    name (str): A name on the Hugging Face hub, or a folder.
    path (Path): The folder to make or replace.
    RETURNS (int): The width of the vectors.
    RAISES (ConnormError): CN303, CN304, CN306, CN307 if it can't be loaded, CN308 if its vectors
        are not finite, CN705 if something else is at the path.
    """
    TransformerEncoder(name=name)  # says which library is missing, before any is imported
    from ..encoders.pretrained import load_pretrained

    pretrained = load_pretrained(name, tokenizer_config={}, transformer_config={})
    with replaced(path, is_ours=_is_transformer) as folder:
        pretrained.tokenizer.save_pretrained(folder)
        pretrained.transformer.save_pretrained(folder)
        encoder = TransformerEncoder(name=str(folder))
        encoder.initialize()
        return encoder.predict([_PROBE]).shape[1]


def _is_transformer(folder: Path) -> bool:
    return "model_type" in read_object(folder / _CONFIG)
