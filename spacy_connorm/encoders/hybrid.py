"""A dense and a lexical encoder as one: meaning and spelling."""

from math import isfinite
from typing import Any

from thinc.api import Model, Ops
from thinc.types import Floats2d

from ..errors import ConnormError, Errors, refuse
from .joint_shim import JointShim
from .protocol import is_sparse, make_encoder
from .vectors import HybridArray


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
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN006 for an encoder of the
        wrong kind or a negative weight.
    """
    if is_sparse(dense) or isinstance(dense.shims[0], HybridShim):
        expected = "an encoder of dense vectors, e.g. spacy-connorm.TransformerEncoder.v1"
        refuse("dense", dense.name, expected)
    if not is_sparse(lexical):
        expected = "an encoder of sparse vectors, e.g. spacy-connorm.NgramEncoder.v1"
        refuse("lexical", lexical.name, expected)
    if not (isfinite(lexical_weight) and lexical_weight >= 0):
        refuse("lexical_weight", lexical_weight, "at least 0")
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


def _hybrid(model: Model) -> "HybridShim":
    shim = model.shims[0] if model.shims else None
    if not isinstance(shim, HybridShim):
        raise ConnormError(Errors.CN313.format(name=model.name))
    return shim


class HybridShim(JointShim):
    """Holds both encoders."""

    def __init__(self, dense: Model, lexical: Model, *, weight: float) -> None:
        """dense (Model[List[str], Floats2d]): The dense encoder.
        lexical (Model[List[str], Floats2d]): The lexical encoder.
        weight (float): The weight of the lexical cosine.
        """
        super().__init__((dense, lexical), extra="hybrid")
        self.weight = weight

    @property
    def dense(self) -> Model:
        """RETURNS (Model[List[str], Floats2d]): The dense encoder."""
        return self.parts[0]

    @property
    def lexical(self) -> Model:
        """RETURNS (Model[List[str], Floats2d]): The lexical encoder."""
        return self.parts[1]

    def encode(self, inputs: list[bytes], ops: Ops) -> HybridArray:
        """RETURNS (HybridArray): Vectors, in main memory even if the dense encoder uses a GPU."""
        dense, lexical = self.encode_parts(inputs)
        return HybridArray(dense, lexical, self.weight)
