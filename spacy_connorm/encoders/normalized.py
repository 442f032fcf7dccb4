"""Steps of text normalization and an encoder, as one: the encoder of an index."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from thinc.api import Model

from ..text.normalization import compose
from .hybrid import is_hybrid, lexical_weight, widths
from .protocol import (
    encode,
    encode_inputs,
    encoder_forms,
    encoder_inputs,
    fingerprint,
    fits,
    open_encoder,
    replica,
)
from .vectors import Raw


class NormalizedEncoder:
    """Normalizes texts, then encodes them. A text's input is all that its vector depends on: texts
    with equal inputs share a row of the index, and vectors are computed from inputs.
    """

    def __init__(self, model: Model, normalization: Sequence[str] = ()) -> None:
        """Store both.

        model (Model[List[str], Floats2d]): The encoder.
        normalization (Sequence[str]): Names of steps, in order; see `text.normalization`.
        RAISES (ConnormError): CN118 for an unknown step.
        """
        self.model = model
        self.normalization = list(normalization)
        self.normalize = compose(self.normalization)

    def __reduce__(self) -> tuple:
        return NormalizedEncoder, (self.model, self.normalization)

    @property
    def fits(self) -> bool:
        """RETURNS (bool): Whether loading the encoder looks at the texts."""
        return fits(self.model)

    def fitted(self, texts: Iterable[str] | None = None) -> "NormalizedEncoder":
        """Load or fit an encoder of the same settings.

        texts (Optional[Iterable[str]]): All texts to encode, for an encoder that `fits`.
        RETURNS (NormalizedEncoder): A new encoder; this one stays as it is.
        """
        model = replica(self.model)
        model.initialize(X=None if texts is None else self._normalized(texts))
        return NormalizedEncoder(model, self.normalization)

    def loaded(self, path: Path) -> "NormalizedEncoder":
        """Read an encoder of the same settings.

        path (Path): What `store_encoder` wrote.
        RETURNS (NormalizedEncoder): A new encoder; this one stays as it is.
        RAISES (ConnormError): CN402 if a file is missing, CN305 if one is damaged.
        """
        return NormalizedEncoder(open_encoder(self.model, path), self.normalization)

    def forms(self, texts: Iterable[str]) -> list[str]:
        """RETURNS (List[str]): Cheap stand-ins for inputs: texts with equal forms have equal
        inputs.
        """
        return encoder_forms(self.model, self._normalized(texts))

    def inputs(self, texts: Iterable[str]) -> list[bytes]:
        """RETURNS (List[bytes]): What the encoder sees of each text."""
        return encoder_inputs(self.model, self._normalized(texts))

    def encode(self, texts: Iterable[str]) -> Raw:
        """RETURNS (Raw): Raw vectors, (texts, width)."""
        return encode(self.model, self._normalized(texts))

    def encode_inputs(self, inputs: Sequence[bytes]) -> Raw:
        """RETURNS (Raw): Raw vectors, (inputs, width)."""
        return encode_inputs(self.model, inputs)

    @property
    def lexical_weight(self) -> float:
        """RETURNS (float): The weight of the lexical cosine of a hybrid encoder; 1 for others."""
        return lexical_weight(self.model) if is_hybrid(self.model) else 1.0

    @property
    def widths(self) -> dict[str, int]:
        """RETURNS (Dict[str, int]): How many components vectors have, "dense", "sparse" or both."""
        return widths(self.model)

    def fingerprint(self) -> str:
        """RETURNS (str): Identifies the encoder and the steps."""
        own = fingerprint(self.model)
        if not self.normalization:
            return own
        content = repr((own, *self.normalization)).encode()
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    def _normalized(self, texts: Iterable[str]) -> list[str]:
        return list(map(self.normalize, texts)) if self.normalization else list(texts)


# Batches of texts to their raw vectors, in order.
EncodeBatches: TypeAlias = Callable[[Iterable[list[str]]], Iterable[Raw]]
# Who encodes the texts of a large ontology: this process, or workers elsewhere. A context manager
# for an encoder; inside it, batches are encoded.
Encoding: TypeAlias = Callable[[NormalizedEncoder], AbstractContextManager[EncodeBatches]]


@contextmanager
def encode_here(encoder: NormalizedEncoder) -> Iterator[EncodeBatches]:
    """YIELDS (Callable): Encodes batches in this process, one by one."""
    yield partial(map, encoder.encode)
