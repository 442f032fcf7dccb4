"""A dense encoder and one of n-grams together: meaning and spelling."""

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
    """Build an encoder whose scores weigh two cosines: (dense + weight * lexical) / (1 + weight),
    which orders concepts as BioSyn's sum of the two does. Where one side knows nothing of a text,
    its cosine is 0. Vectors are `HybridArray`. `initialize` loads the one side and fits the other.

    The weight belongs to those that search, not to the index: it can be changed in the config of a
    pipeline that is loaded, and the fingerprint leaves it out. At 0 the scores are those of the
    dense encoder alone.

    dense (Model[List[str], Floats2d]): An encoder of dense vectors.
    lexical (Model[List[str], Floats2d]): An encoder of sparse ones, such as
        `spacy-connorm.NgramEncoder.v1`.
    lexical_weight (float): What a lexical cosine counts, if a dense one counts 1.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN309 for one of the wrong kind,
        and for a weight under 0.
    """
    if is_sparse(dense) or isinstance(dense.shims[0], HybridShim):
        _refuse("dense", "an encoder of dense vectors, e.g. spacy-connorm.TransformerEncoder.v1")
    if not is_sparse(lexical):
        _refuse("lexical", "an encoder of sparse vectors, e.g. spacy-connorm.NgramEncoder.v1")
    if not (isfinite(lexical_weight) and lexical_weight >= 0):
        _refuse("lexical_weight", "at least 0")
    return make_encoder("hybrid_encoder", HybridShim(dense, lexical, weight=lexical_weight))


def is_hybrid(model: Model) -> bool:
    """RETURNS (bool): Whether `HybridEncoder` built an encoder."""
    return bool(model.shims) and isinstance(model.shims[0], HybridShim)


def lexical_weight(model: Model) -> float:
    """RETURNS (float): What a lexical cosine counts.
    RAISES (ConnormError): CN313 for another encoder than a hybrid.
    """
    return _hybrid(model).weight


def reweighed(model: Model, weight: float) -> Model:
    """Give a hybrid encoder another weight.

    model (Model[List[str], Floats2d]): The encoder; it stays as it is.
    weight (float): What a lexical cosine is to count.
    RETURNS (Model[List[str], Floats2d]): An encoder of the same fingerprint, which shares both of
        the encoders in it.
    RAISES (ConnormError): CN313 for another encoder than a hybrid, CN309 for a weight under 0.
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
    """Holds both encoders, and saves what they save."""

    sparse = False

    def __init__(self, dense: Model, lexical: Model, *, weight: float) -> None:
        """dense (Model[List[str], Floats2d]): The dense encoder.
        lexical (Model[List[str], Floats2d]): The sparse one.
        weight (float): As `HybridEncoder` takes it.
        """
        super().__init__(None)
        self.dense = dense
        self.lexical = lexical
        self.weight = weight
        # Several extras stand between commas, as pip takes them.
        self.extra = ",".join(
            filter(None, ("hybrid", required_extra(dense), required_extra(lexical)))
        )

    @property
    def width(self) -> int:
        """RETURNS (int): Both widths together; 0 before both encoders are loaded."""
        widths = [each.maybe_get_dim("nO") or 0 for each in (self.dense, self.lexical)]
        return sum(widths) if all(widths) else 0

    @property
    def fits(self) -> bool:
        """RETURNS (bool): Whether either encoder looks at the texts that it is loaded with."""
        return fits(self.dense) or fits(self.lexical)

    def load(self, texts: list[str] | None) -> None:
        """Load the one encoder and fit the other.

        texts (Optional[List[str]]): The texts, e.g. every name of an ontology.
        """
        dense, lexical = replica(self.dense), replica(self.lexical)
        for encoder in (dense, lexical):
            encoder.initialize(X=texts)
        self.dense, self.lexical = dense, lexical

    def encode(self, inputs: list[bytes], ops: Ops) -> HybridArray:
        """RETURNS (HybridArray): In main memory, wherever the dense encoder computes."""
        ends = [_LENGTH + int.from_bytes(each[:_LENGTH], "big") for each in inputs]
        pairs = list(zip(inputs, ends, strict=True))
        dense = encode_inputs(self.dense, [each[_LENGTH:end] for each, end in pairs])
        lexical = encode_inputs(self.lexical, [each[end:] for each, end in pairs])
        return HybridArray(dense, lexical, self.weight)

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): What either encoder sees."""
        dense, lexical = encoder_inputs(self.dense, texts), encoder_inputs(self.lexical, texts)
        return [
            len(one).to_bytes(_LENGTH, "big") + one + other
            for one, other in zip(dense, lexical, strict=True)
        ]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): Those of either encoder, as one."""
        dense, lexical = encoder_forms(self.dense, texts), encoder_forms(self.lexical, texts)
        return [f"{len(one)} {one}{other}" for one, other in zip(dense, lexical, strict=True)]

    def fingerprint(self) -> str:
        """RETURNS (str): Of both encoders; the weight changes no vector."""
        prints = " ".join(map(fingerprint, (self.dense, self.lexical)))
        return hashlib.blake2b(prints.encode(), digest_size=16).hexdigest()

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): What both encoders save, and a checksum."""
        parts = [self.dense.to_bytes(), self.lexical.to_bytes()]
        return srsly.msgpack_dumps({"parts": parts, "digest": _digest(parts)})

    def from_bytes(self, data: bytes) -> "HybridShim":
        """Restore both encoders.

        data (bytes): As `to_bytes` wrote it.
        RETURNS (HybridShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged, and what the encoders raise.
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
