"""An encoder behind the steps that prepare texts for it: what the index and its searches ask."""

import hashlib
from collections.abc import Iterable, Sequence

from thinc.api import Model

from ..text.normalization import compose
from . import encode, encode_inputs, encoder_forms, encoder_inputs, fingerprint, fits, replica
from .hybrid import is_hybrid, lexical_weight
from .vectors import Raw


class NormalizedEncoder:
    """Normalizes texts, then encodes them."""

    def __init__(self, model: Model, normalization: Sequence[str] = ()) -> None:
        """Put steps of text normalization in front of an encoder.

        model (Model[List[str], Floats2d]): The encoder.
        normalization (Sequence[str]): Names of steps, in order; see `text.normalization`.
        RAISES (ConnormError): What `compose` raises for names that it does not know.
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
        """Load the encoder, fitting it if it is one that is fitted.

        texts (Optional[Iterable[str]]): All that there is to encode, for an encoder that fits.
        RETURNS (NormalizedEncoder): The same with a new encoder; this one stays as it is.
        """
        model = replica(self.model)
        model.initialize(X=None if texts is None else list(map(self.normalize, texts)))
        return NormalizedEncoder(model, self.normalization)

    def forms(self, texts: Iterable[str]) -> list[str]:
        """RETURNS (List[str]): A cheap stand-in for `inputs`: texts with equal forms have equal
        inputs.
        """
        return encoder_forms(self.model, list(map(self.normalize, texts)))

    def inputs(self, texts: Iterable[str]) -> list[bytes]:
        """RETURNS (List[bytes]): What the encoder sees of each text: texts that the steps make
        equal have equal inputs.
        """
        return encoder_inputs(self.model, list(map(self.normalize, texts)))

    def encode(self, texts: Iterable[str]) -> Raw:
        """RETURNS (Raw): Vectors of any length, (texts, width)."""
        return encode(self.model, list(map(self.normalize, texts)))

    def encode_inputs(self, inputs: Sequence[bytes]) -> Raw:
        """RETURNS (Raw): As `encode`, of what `inputs` gave: (inputs, width)."""
        return encode_inputs(self.model, inputs)

    @property
    def lexical_weight(self) -> float:
        """RETURNS (float): What a lexical cosine counts beside a dense one; 1 without one."""
        return lexical_weight(self.model) if is_hybrid(self.model) else 1.0

    def fingerprint(self) -> str:
        """RETURNS (str): That of the encoder; another one if steps stand in front of it."""
        own = fingerprint(self.model)
        if not self.normalization:
            return own
        content = repr((own, *self.normalization)).encode()
        return hashlib.blake2b(content, digest_size=16).hexdigest()
