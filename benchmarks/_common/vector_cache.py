"""Cache the vectors of texts on disk: no text is encoded twice, in this run or a later one."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import Model

from spacy_connorm.encoders import encode_inputs, encoder_inputs, fingerprint, fits, make_encoder
from spacy_connorm.encoders.hybrid import HybridEncoder, HybridShim
from spacy_connorm.encoders.saving import restored_parts, saved_parts
from spacy_connorm.encoders.shims import EncoderShim
from spacy_connorm.files.atomic import atomic_file


class VectorCache(EncoderShim):
    """Caches the vectors of a dense encoder. One file per encoder fingerprint."""

    def __init__(self, encoder: Model, folder: Path) -> None:
        """Wrap an encoder.

        encoder (Model[List[str], Floats2d]): The encoder.
        folder (Path): Keeps the vectors.
        """
        super().__init__()
        self.fits = fits(encoder)
        self.encoder = encoder
        self._folder = folder
        self._vectors: dict[bytes, np.ndarray] = {}

    @property
    def width(self) -> int:
        return self.encoder.get_dim("nO") if self.encoder.has_dim("nO") else 0

    @property
    def path(self) -> Path:
        """RETURNS (Path): The file of this encoder's vectors."""
        return self._folder / f"vectors-{self.fingerprint()}.npz"

    def load(self, texts: list[str] | None) -> None:
        self.encoder.initialize(X=texts)
        self._vectors = {}
        if self.path.is_file():
            with np.load(self.path) as kept:
                keys = map(bytes, kept["keys"])
                self._vectors = dict(zip(keys, kept["vectors"], strict=True))

    def encode(self, inputs: list[bytes]) -> Any:
        keys = [blake2b(key, digest_size=16).digest() for key in inputs]
        pairs = zip(keys, inputs, strict=True)
        new = {key: each for key, each in pairs if key not in self._vectors}
        if new:
            vectors = encode_inputs(self.encoder, list(new.values()))
            self._vectors.update(zip(new, vectors, strict=True))
        rows = [self._vectors[key] for key in keys]
        return np.asarray(rows, dtype="float32").reshape(-1, self.width)

    def inputs(self, texts: Sequence[str]) -> list[bytes]:
        return encoder_inputs(self.encoder, texts)

    def fingerprint(self) -> str:
        return fingerprint(self.encoder)

    def hold(self, model: Model, digest: str) -> None:
        self.encoder = model

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return saved_parts({"encoder": self.encoder})

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[Model, str]:
        return restored_parts({"encoder": self.encoder}, saved, arrays)["encoder"], ""

    def save(self) -> None:
        """Write all vectors for the next run."""
        keys = np.asarray([list(key) for key in self._vectors], dtype="uint8")
        with atomic_file(self.path) as aside:
            np.savez(aside, keys=keys, vectors=np.asarray(list(self._vectors.values())))


def add_cache(encoder: Model, folder: Path) -> Model:
    """Wrap an encoder in a cache.

    encoder (Model[List[str], Floats2d]): A dense encoder.
    folder (Path): Keeps its vectors.
    RETURNS (Model[List[str], Floats2d]): An encoder with the same vectors.
    """
    return make_encoder(f"cached_{encoder.name}", VectorCache(encoder, folder))


def save_cache(encoder: Model) -> None:
    """Save the cache of an encoder, or of the parts of a hybrid, if they have one.

    encoder (Model[List[str], Floats2d]): The encoder.
    """
    for shim in encoder.shims:
        if isinstance(shim, VectorCache):
            shim.save()
        elif isinstance(shim, HybridShim):
            save_cache(shim.parts["dense"])


def remove_cache(encoder: Model) -> Model:
    """Unwrap an encoder, or the parts of a hybrid, if they have a cache.

    encoder (Model[List[str], Floats2d]): The encoder, loaded.
    RETURNS (Model[List[str], Floats2d]): One that computes the same vectors.
    """
    for shim in encoder.shims:
        if isinstance(shim, VectorCache):
            return shim.encoder
        if isinstance(shim, HybridShim):
            dense, lexical = remove_cache(shim.parts["dense"]), shim.parts["lexical"]
            bare = HybridEncoder(dense=dense, lexical=lexical, lexical_weight=shim.lexical_weight)
            bare.set_dim("nO", shim.width)
            return bare
    return encoder
