"""Texts to unit vectors, for what asks an encoder without a lookup around it."""

from collections.abc import Sequence

from thinc.api import Model

from .. import encoders
from ..index.vectors import Vectors, from_raw


def encode(encoder: Model, texts: Sequence[str]) -> Vectors:
    """Encode texts.

    encoder (Model[List[str], Floats2d]): Any encoder.
    texts (Sequence[str]): n texts, cleaned.
    RETURNS (Vectors): n unit vectors, float32; a text that the encoder knows nothing of has
        length zero.
    RAISES (ConnormError): Those of the encoder.
    """
    return from_raw(encoders.encode(encoder, texts))
