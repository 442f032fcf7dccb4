"""A dense and a lexical encoder as one: meaning and spelling."""

import hashlib
from math import isfinite
from typing import Any

import srsly
from thinc.api import Model, Ops
from thinc.shims import Shim
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from .protocol import (
    encode_inputs,
    encoder_forms,
    encoder_inputs,
    fingerprint,
    fits,
    is_sparse,
    make_encoder,
    replica,
    required_extra,
)
from .vectors import HybridArray
from .verified import load_verified

_LENGTH = 8


def HybridEncoder(
    *,
    dense: Model[list[str], Floats2d],
    lexical: Model[list[str], Floats2d],
    lexical_weight: float = 0.3,
) -> Model[list[str], Floats2d]:
    """Build an encoder whose score is the weighted mean of two cosines: (dense + weight * lexical)
    / (1 + weight). It ranks concepts as the sum of the two in BioSyn does (Sung et al. 2020). A
    zero vector on one side has cosine 0 there. Vectors are `HybridArray`. `initialize` loads the
    dense encoder and fits the lexical one.

    The weight is not part of the index or the fingerprint: it can be changed in the config of a
    saved pipeline. With 0, scores are those of the dense encoder.

    dense (Model[List[str], Floats2d]): An encoder of dense vectors.
    lexical (Model[List[str], Floats2d]): An encoder of sparse vectors, such as
        `spacy-connorm.NgramEncoder.v1`.
    lexical_weight (float): The weight of the lexical cosine; that of the dense one is 1.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN309 for an encoder of the
        wrong kind or a negative weight.
    """
    if is_sparse(dense) or isinstance(dense.shims[0], HybridShim):
        _refuse("dense", "an encoder of dense vectors, e.g. spacy-connorm.TransformerEncoder.v1")
    if not is_sparse(lexical):
        _refuse("lexical", "an encoder of sparse vectors, e.g. spacy-connorm.NgramEncoder.v1")
    if not (isfinite(lexical_weight) and lexical_weight >= 0):
        _refuse("lexical_weight", "at least 0")
    return make_encoder("hybrid_encoder", HybridShim(dense, lexical, weight=lexical_weight))


def is_hybrid(model: Model) -> bool:
    """RETURNS (bool): Whether the encoder is a `HybridEncoder`."""
    return bool(model.shims) and isinstance(model.shims[0], HybridShim)


def lexical_weight(model: Model) -> float:
    """RETURNS (float): The weight of the lexical cosine.
    RAISES (ConnormError): CN313 for an encoder that is not hybrid.
    """
    return _hybrid(model).weight


def widths(model: Model) -> dict[str, int]:
    """RETURNS (Dict[str, int]): How many components the vectors of an encoder have: "dense",
    "sparse", or both for a `HybridEncoder`.
    """
    shim: Any = model.shims[0]
    if is_hybrid(model):
        return {**widths(shim.dense), **widths(shim.lexical)}
    return {"sparse" if is_sparse(model) else "dense": shim.width}


def reweighed(model: Model, weight: float) -> Model:
    """Change the weight of a hybrid encoder.

    model (Model[List[str], Floats2d]): The encoder; not modified.
    weight (float): The new weight of the lexical cosine.
    RETURNS (Model[List[str], Floats2d]): A hybrid encoder that shares both parts, and so has the
        same fingerprint.
    RAISES (ConnormError): CN313 for an encoder that is not hybrid, CN309 for a negative weight.
    """
    shim = _hybrid(model)
    return HybridEncoder(dense=shim.dense, lexical=shim.lexical, lexical_weight=weight)


def _hybrid(model: Model) -> "HybridShim":
    shim = model.shims[0] if model.shims else None
    if not isinstance(shim, HybridShim):
        raise ConnormError(Errors.CN313.format(name=model.name))
    return shim


def _refuse(setting: str, expected: str) -> None:
    raise ConnormError(Errors.CN309.format(setting=setting, expected=expected))


class HybridShim(Shim):
    """Holds both encoders."""

    sparse = False

    def __init__(self, dense: Model, lexical: Model, *, weight: float) -> None:
        """dense (Model[List[str], Floats2d]): The dense encoder.
        lexical (Model[List[str], Floats2d]): The lexical encoder.
        weight (float): The weight of the lexical cosine.
        """
        super().__init__(None)
        self.dense = dense
        self.lexical = lexical
        self.weight = weight
        # Several extras are separated by commas, as in pip.
        self.extra = ",".join(
            filter(None, ("hybrid", required_extra(dense), required_extra(lexical)))
        )

    @property
    def width(self) -> int:
        """RETURNS (int): The sum of both widths; 0 before both encoders are loaded."""
        widths = [each.maybe_get_dim("nO") or 0 for each in (self.dense, self.lexical)]
        return sum(widths) if all(widths) else 0

    @property
    def fits(self) -> bool:
        """RETURNS (bool): Whether either encoder is fitted to texts."""
        return fits(self.dense) or fits(self.lexical)

    def load(self, texts: list[str] | None) -> None:
        """Load the dense encoder and fit the lexical one.

        texts (Optional[List[str]]): The texts, e.g. all names of an ontology.
        """
        dense, lexical = replica(self.dense), replica(self.lexical)
        for encoder in (dense, lexical):
            encoder.initialize(X=texts)
        self.dense, self.lexical = dense, lexical

    def encode(self, inputs: list[bytes], ops: Ops) -> HybridArray:
        """RETURNS (HybridArray): Vectors, in main memory even if the dense encoder uses a GPU."""
        ends = [_LENGTH + int.from_bytes(each[:_LENGTH], "big") for each in inputs]
        pairs = list(zip(inputs, ends, strict=True))
        dense = encode_inputs(self.dense, [each[_LENGTH:end] for each, end in pairs])
        lexical = encode_inputs(self.lexical, [each[end:] for each, end in pairs])
        return HybridArray(dense, lexical, self.weight)

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The inputs of both encoders, the first with its length."""
        dense, lexical = encoder_inputs(self.dense, texts), encoder_inputs(self.lexical, texts)
        return [
            len(one).to_bytes(_LENGTH, "big") + one + other
            for one, other in zip(dense, lexical, strict=True)
        ]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The forms of both encoders, the first with its length."""
        dense, lexical = encoder_forms(self.dense, texts), encoder_forms(self.lexical, texts)
        return [f"{len(one)} {one}{other}" for one, other in zip(dense, lexical, strict=True)]

    def fingerprint(self) -> str:
        """RETURNS (str): A checksum of both fingerprints, without the weight."""
        prints = " ".join(map(fingerprint, (self.dense, self.lexical)))
        return hashlib.blake2b(prints.encode(), digest_size=16).hexdigest()

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): Both encoders and a checksum."""
        parts = [self.dense.to_bytes(), self.lexical.to_bytes()]
        return srsly.msgpack_dumps({"parts": parts, "digest": _digest(parts)})

    def from_bytes(self, data: bytes) -> "HybridShim":
        """Restore both encoders.

        data (bytes): From `to_bytes`.
        RETURNS (HybridShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged, and the errors of both encoders.
        """
        (dense, lexical), _ = load_verified(data, _restore)
        self.dense = replica(self.dense).from_bytes(dense)
        self.lexical = replica(self.lexical).from_bytes(lexical)
        return self


def _restore(saved: dict[str, Any]) -> tuple[tuple[bytes, bytes], str]:
    dense, lexical = saved["parts"]
    return (dense, lexical), _digest([dense, lexical])


def _digest(parts: list[bytes]) -> str:
    content = hashlib.blake2b(digest_size=16)
    for part in parts:
        content.update(len(part).to_bytes(_LENGTH, "big"))
        content.update(part)
    return content.hexdigest()
