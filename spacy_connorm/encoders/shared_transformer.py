"""The transformer that a pipeline already has, as an encoder."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import Errors, require_range
from .protocol import make_encoder
from .raw import unit_rows
from .storage import digest_parts
from .tokens import FEWEST_TOKENS
from .transformer import TransformerShim

if TYPE_CHECKING:
    from .transformer_module import TransformerModule


def SharedTransformerEncoder(
    *,
    component: str = "transformer",
    pooling: Literal["mean", "cls", "max"] = "mean",
    max_length: int = 64,
    normalize: bool = False,
    batch_size: int = 128,
) -> Model[list[str], Floats2d]:
    """Build an encoder from the weights and the tokenizer of another component of the pipeline: a
    `transformer` of spacy-transformers, which stands before the normalizer and is frozen. Nothing
    is loaded or saved twice. Names and mentions are read alone, not in their sentences.

    component (str): The name of the component.
    pooling (Literal["mean", "cls", "max"]): How token vectors are pooled.
    max_length (int): Texts are truncated to this many tokens, including special tokens.
    normalize (bool): Whether vectors are brought to unit length before those of a concept are
        averaged.
    batch_size (int): Texts per batch.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an empty batch or a length that leaves no room for text.
    """
    require_range(least=FEWEST_TOKENS, max_length=max_length)
    require_range(least=1, batch_size=batch_size)
    asked = {"pooling": pooling, "max_length": max_length}
    shim = SharedTransformerShim(component, asked=asked, normalize=normalize, batch_size=batch_size)
    return make_encoder("shared_transformer_encoder", shim)


class SharedTransformerShim(TransformerShim):
    """Encodes with the transformer of another component, and saves its checksum only."""

    extra = "ner"

    def __init__(
        self, component: str, *, asked: dict[str, Any], normalize: bool, batch_size: int
    ) -> None:
        """Store the settings.

        component (str): The name of the component.
        asked (Dict[str, Any]): `pooling` and `max_length`.
        normalize (bool): Whether vectors are brought to unit length.
        batch_size (int): Texts to encode at once.
        """
        super().__init__(component, asked=asked, batch_size=batch_size, mixed_precision=False)
        self._normalize = normalize
        self._find: Callable[[str], Any] | None = None

    def attach(self, find: Callable[[str], Any]) -> None:
        """Keep the function that finds the component; see `EncoderShim`."""
        self._find = find

    def load(self, texts: list[str] | None) -> None:
        """Take the transformer as it is now.

        texts (Optional[List[str]]): Not used.
        RAISES (ConnormError): CN323 if there is none.
        """
        model = self.read()
        self.hold(model, model.digest())

    def read(self) -> "TransformerModule":
        """Take the transformer and the tokenizer of the component.

        RETURNS (TransformerModule): They, shared, and the pooling.
        RAISES (ConnormError): CN323 if there are none.
        """
        from .transformer_module import TransformerModule

        tokenizer, transformer = self._parts()
        # Other files of a tokenizer differ after it was saved and loaded.
        files = {"vocabulary": json.dumps(tokenizer.get_vocab(), sort_keys=True).encode()}
        return TransformerModule(tokenizer, transformer, files=files, **self._asked)

    def _parts(self) -> tuple[Any, Any]:
        reason = "there is no pipeline around it"
        if self._find is not None:
            try:
                model = self._find(self.name).model
                if model.transformer is not None:
                    return model.tokenizer, model.transformer
                reason = "it is not loaded yet: it must stand before the normalizer"
            except KeyError:
                reason = "the pipeline has no such component"
            except AttributeError:
                reason = "it is not a `transformer` of spacy-transformers"
        raise Errors.CN323(component=self.name, reason=reason)

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from token ids.

        RETURNS (np.ndarray): Shape (inputs, width), float32.
        """
        # Training an NER may have switched its dropout on.
        self._model.eval()
        vectors = super().encode_batch(inputs)
        return unit_rows(vectors) if self._normalize else vectors

    def fingerprint(self) -> str:
        """Compute a checksum of weights, vocabulary and settings.

        RETURNS (str): See `fingerprint`.
        """
        return digest_parts(self._digest, "normalize") if self._normalize else self._digest

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Save nothing: the component does.

        RETURNS (Tuple): No values and no arrays.
        RAISES (ConnormError): CN325 if the transformer was trained in the meantime.
        """
        self._require(self._model.digest(), self._digest)
        return {}, {}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> "tuple[TransformerModule, str]":
        """Take the transformer of the component again.

        RETURNS (Tuple): The transformer and its checksum.
        RAISES (ConnormError): CN323 if there is none, CN325 if it is another than before.
        """
        model = self.read()
        digest = model.digest()
        self._require(digest, saved["digest"])
        return model, digest

    def _require(self, digest: str, expected: str) -> None:
        if digest != expected:
            raise Errors.CN325(component=self.name)
