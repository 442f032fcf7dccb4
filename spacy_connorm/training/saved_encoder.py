"""Write a pretrained transformer to a folder."""

from pathlib import Path
from typing import NamedTuple

from ..encoders.transformer import TransformerEncoder
from ..files.atomic import require_apart
from ..files.folders import replaced
from .encoder_folder import PROBE, is_encoder


class SavedEncoder(NamedTuple):
    """A pretrained transformer that was saved.

    path (Path): Its folder, the `name` of a `TransformerEncoder.v1`.
    width (int): The width of its vectors.
    """

    path: Path
    width: int


def save_encoder(name: str | Path, output_path: str | Path) -> SavedEncoder:
    """Save a pretrained transformer and its tokenizer, and check that they can be used: `connorm
    encoder`.

    name (Union[str, Path]): A name on the Hugging Face hub, or a folder.
    output_path (Union[str, Path]): The folder to create or replace.
    RETURNS (SavedEncoder): The folder, and the width of the vectors.
    RAISES (ConnormError): CN121 if the output would replace the transformer, CN303, CN304 or
        CN306 if it cannot be loaded, CN308 if its vectors are not finite, CN705 if something else
        is at the path.
    """
    TransformerEncoder(name=str(name))  # raises if a library is missing, before importing any
    from ..encoders.pretrained import load_pretrained

    path = Path(output_path)
    require_apart(path, name)
    pretrained = load_pretrained(str(name))
    with replaced(path, is_ours=is_encoder) as folder:
        pretrained.tokenizer.save_pretrained(folder)
        pretrained.transformer.save_pretrained(folder)
        encoder = TransformerEncoder(name=str(folder))
        encoder.initialize()
        width = encoder.predict([PROBE]).shape[1]
    return SavedEncoder(path, width)
