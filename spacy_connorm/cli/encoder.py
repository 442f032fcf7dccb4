"""`connorm encoder` and `connorm export`: a transformer in a folder, also for ONNX Runtime."""

from typing import Any

from wasabi import msg

from ..training import export_encoder, save_encoder
from .app import command
from .options import options_of


@command("encoder")
@options_of(save_encoder)
def encoder_cli(**given: Any) -> None:
    """Save a pretrained transformer and its tokenizer, so that a machine without a network can use
    them: TransformerEncoder.v1 with OUT as its `name`.

    Example: python -m spacy connorm encoder cambridgeltl/SapBERT-from-PubMedBERT-fulltext sapbert
    """
    path, width = save_encoder(**given)
    msg.good(f"Wrote the transformer, whose vectors are {width} wide: {path}")


@command("export")
@options_of(export_encoder, flags={"precision": "-p"})
def export_cli(**given: Any) -> None:
    """Export a transformer for ONNX Runtime: OnnxEncoder.v1 with OUT as its `name` needs neither
    torch nor transformers, and in eight bits (int8) it is about three times as fast on processors.
    Its vectors differ from the transformer's, so build indexes again with it.

    Example: python -m spacy connorm export training/encoder training/encoder-int8
    """
    path, cosine = export_encoder(**given)
    msg.good(f"Wrote the encoder: {path}")
    msg.info(f"Mean cosine of its vectors and those of '{given['name']}': {cosine:.4f}")
