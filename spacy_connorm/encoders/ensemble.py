"""Several dense encoders as one, with a weighted mean of their cosines."""

import hashlib
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, cast

import numpy as np
from thinc.api import Model, Ops
from thinc.types import Floats2d

from .hybrid import is_hybrid
from .joint_shim import JointShim
from .protocol import is_sparse, make_encoder
from .settings import refuse_setting


def EnsembleEncoder(
    *,
    encoders: dict[str, Any],
    weights: dict[str, float] | None = None,
) -> Model[list[str], Floats2d]:
    """Build an encoder whose cosine is the weighted mean of those of several dense encoders. Its
    vector is that of all parts, side by side, each at unit length times the square root of its
    weight; the weights are scaled to a sum of 1. The parts are ordered by name.

    A part that knows nothing of a text has a zero vector there, and only the other parts count:
    its cosines with names that all parts know are then smaller, in the same order.

    The weights are part of the fingerprint: other weights need a new index.

    encoders (Dict[str, Model[List[str], Floats2d]]): Two or more encoders of dense vectors, by
        names of your choice.
    weights (Optional[Dict[str, float]]): The weight of each encoder by its name; equal ones if
        None.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN309 for fewer than two
        encoders, for one of the wrong kind, and for weights that aren't positive numbers, one for
        each encoder.
    """
    # They are not annotated as models: spaCy checks dictionaries before it creates what is in them.
    if len(encoders) < 2:
        refuse_setting("encoders", "at least two encoders by name")
    for name, model in encoders.items():
        if not isinstance(model, Model) or is_sparse(model) or is_hybrid(model):
            expected = "an encoder of dense vectors, e.g. spacy-connorm.TransformerEncoder.v1"
            refuse_setting(f"encoders.{name}", expected)
    weights = dict.fromkeys(encoders, 1.0) if weights is None else weights
    _check_weights(weights, encoders)
    total = sum(weights.values())
    names = sorted(encoders)
    shim = EnsembleShim(
        [encoders[name] for name in names], [weights[name] / total for name in names]
    )
    return make_encoder("ensemble_encoder", shim)


def _check_weights(weights: Mapping[str, float], encoders: Mapping[str, Model]) -> None:
    sound = all(isfinite(weight) and weight > 0 for weight in weights.values())
    if weights.keys() != encoders.keys() or not sound:
        refuse_setting("weights", f"a positive number for each of {', '.join(sorted(encoders))}")


class EnsembleShim(JointShim):
    """Holds the encoders."""

    def __init__(self, parts: Sequence[Model], weights: Sequence[float]) -> None:
        """parts (Sequence[Model[List[str], Floats2d]]): Encoders of dense vectors.
        weights (Sequence[float]): One for each part, positive, with a sum of 1.
        """
        super().__init__(parts)
        self.weights = tuple(weights)

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32. Unit vectors for texts that all parts
        know, shorter ones for others.
        """
        parts = zip(self.encode_parts(inputs), self.weights, strict=True)
        vectors = np.hstack([_at_length(rows, weight**0.5) for rows, weight in parts])
        return ops.asarray2f(cast(Floats2d, vectors))

    def fingerprint(self) -> str:
        """RETURNS (str): A checksum of the parts' fingerprints and the weights."""
        content = repr((super().fingerprint(), *self.weights)).encode()
        return hashlib.blake2b(content, digest_size=16).hexdigest()


def _at_length(rows: np.ndarray, length: float) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.divide(length, norms, out=np.zeros_like(norms), where=norms > 0)
