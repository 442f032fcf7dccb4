"""A dense and a lexical encoder combined: meaning and spelling."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import refuse, require_range
from .protocol import fitted, is_sparse, make_encoder, replica, shim_of
from .raw import HybridArray
from .saving import restored_parts, saved_parts
from .shims import EncoderShim

_LENGTH = 8


def HybridEncoder(
    *,
    dense: Model[list[str], Floats2d],
    lexical: Model[list[str], Floats2d],
    lexical_weight: float = 0.3,
) -> Model[list[str], Floats2d]:
    """Build an encoder whose score is the weighted mean of two cosines: (dense + weight * lexical)
    / (1 + weight). It ranks concepts like the sum of the two in BioSyn (Sung et al. 2020). If one
    of the vectors is zero, its cosine is 0. Vectors are `HybridArray`. `initialize` loads the dense
    encoder and fits the lexical one.

    The weight is not part of the index or the fingerprint, so it can be changed in the config of a
    saved pipeline. With 0, scores are those of the dense encoder.

    dense (Model[List[str], Floats2d]): An encoder of dense vectors.
    lexical (Model[List[str], Floats2d]): An encoder of sparse vectors, such as
        `spacy-connorm.NgramEncoder.v1`.
    lexical_weight (float): The weight of the lexical cosine; the dense one has the weight 1.
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
    require_range(least=0, lexical_weight=lexical_weight)
    return make_encoder("hybrid_encoder", HybridShim(dense, lexical, weight=lexical_weight))


class HybridShim(EncoderShim):
    """Holds both encoders. Its inputs are the dense encoder's input, with its length, followed by
    the lexical encoder's.

    parts (Dict[str, Model[List[str], Floats2d]]): "dense" and "lexical".
    """

    def __init__(self, dense: Model, lexical: Model, *, weight: float) -> None:
        """Store the encoders and the weight.

        dense (Model[List[str], Floats2d]): The dense encoder.
        lexical (Model[List[str], Floats2d]): The lexical encoder.
        weight (float): The weight of the lexical cosine.
        """
        super().__init__()
        self.parts = {"dense": dense, "lexical": lexical}
        self.fits = any(shim.fits for shim in self._shims)
        self.extra = ",".join(shim.extra for shim in self._shims if shim.extra)
        self.lexical_weight = weight

    def attach(self, find: Callable[[str], Any]) -> None:
        """Give both encoders access to the pipeline; see `EncoderShim`."""
        for shim in self._shims:
            shim.attach(find)

    @property
    def _shims(self) -> list[EncoderShim]:
        return [shim_of(part) for part in self.parts.values()]

    @property
    def width(self) -> int:
        """The sum of both widths.

        RETURNS (int): 0 before both encoders are loaded.
        """
        widths = [part.maybe_get_dim("nO") or 0 for part in self.parts.values()]
        return sum(widths) if all(widths) else 0

    @property
    def widths(self) -> dict[str, int]:
        """The widths of both encoders.

        RETURNS (Dict[str, int]): "dense" and "sparse".
        """
        dense, lexical = self._shims
        return {"dense": dense.width, "sparse": lexical.width}

    def load(self, texts: list[str] | None) -> None:
        """Load or fit both encoders, or neither if one fails.

        texts (Optional[List[str]]): The texts, e.g. all names of an ontology.
        """
        self.parts = {name: fitted(part, texts) for name, part in self.parts.items()}

    def encode(self, inputs: list[bytes]) -> HybridArray:
        """Encode with both encoders.

        RETURNS (HybridArray): The vectors.
        """
        ends = [_LENGTH + int.from_bytes(key[:_LENGTH], "big") for key in inputs]
        dense, lexical = self._shims
        return HybridArray(
            dense.encode([key[_LENGTH:end] for key, end in zip(inputs, ends, strict=True)]),
            lexical.encode([key[end:] for key, end in zip(inputs, ends, strict=True)]),
            self.lexical_weight,
        )

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Combine the inputs of both encoders.

        RETURNS (List[bytes]): For each text, both inputs, the first with its length.
        """
        both = zip(*(shim.inputs(texts) for shim in self._shims), strict=True)
        return [len(one).to_bytes(_LENGTH, "big") + one + other for one, other in both]

    def fingerprint(self) -> str:
        """Combine both fingerprints.

        RETURNS (str): A checksum of them.
        """
        prints = " ".join(shim.fingerprint() for shim in self._shims)
        return hashlib.blake2b(prints.encode(), digest_size=16).hexdigest()

    def hold(self, model: dict[str, Model] | None, digest: str) -> None:
        """Keep both encoders by name; None to empty them."""
        self.parts = model or {name: replica(part) for name, part in self.parts.items()}

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect what both encoders save.

        RETURNS (Tuple): Values for msgpack, and arrays, each with a checksum.
        """
        return saved_parts(self.parts)

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[dict[str, Model], str]:
        """Restore both encoders.

        RETURNS (Tuple): The encoders by name, and an empty checksum.
        RAISES (ConnormError): CN305 if one is damaged.
        """
        return restored_parts(self.parts, saved, arrays), ""
