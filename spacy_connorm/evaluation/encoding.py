"""Texts to unit vectors, for what asks an encoder without a lookup around it."""

from collections.abc import Sequence

from ..index.vectors import Vectors, from_raw
from ..preparation import PreparedEncoder


def encode(encoder: PreparedEncoder, texts: Sequence[str]) -> Vectors:
    """Encode texts.

    encoder (PreparedEncoder): Any encoder, and what stands in front of it.
    texts (Sequence[str]): n texts, cleaned.
    RETURNS (Vectors): n unit vectors, float32; a text that the encoder knows nothing of has
        length zero.
    RAISES (ConnormError): Those of the encoder.
    """
    return from_raw(encoder.encode(texts))
