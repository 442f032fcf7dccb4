"""Encoders: strings in, one float32 vector a string out.

`protocol` tells what every encoder offers and how a new one is added.
"""

from .protocol import (
    encode,
    encode_inputs,
    encoder_forms,
    encoder_inputs,
    fingerprint,
    fits,
    is_sparse,
    make_encoder,
    replica,
    require_trainable,
    required_extra,
    trainable,
)

__all__ = [
    "encode",
    "encode_inputs",
    "encoder_forms",
    "encoder_inputs",
    "fingerprint",
    "fits",
    "is_sparse",
    "make_encoder",
    "replica",
    "require_trainable",
    "required_extra",
    "trainable",
]
