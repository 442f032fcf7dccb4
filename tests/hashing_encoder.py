"""A dense encoder without weights. It stands in a module of its own, where pickle finds it."""

import hashlib

import numpy as np
import spacy

from spacy_connorm.encoders import make_encoder
from spacy_connorm.encoders.shims import EncoderShim


class HashingShim(EncoderShim):
    """Adds up one random direction for each trigram, and remembers what it was asked to encode."""

    fits = True
    width = 0

    def __init__(self, seed):
        super().__init__()
        self.seed = seed
        self.encoded = []

    def load(self, texts):
        self.width = 32

    def inputs(self, texts):
        return [text.lower().encode() for text in texts]

    def encode(self, inputs):
        self.encoded.extend(key.decode() for key in inputs)
        vectors = np.array(list(map(self._vector, inputs)), dtype="float32")
        return vectors.reshape(len(inputs), self.width)

    def fingerprint(self):
        return f"hashes of {self.seed}"

    def hold(self, model, digest):
        self.width = model or 0

    def contents(self):
        return {"width": self.width}, {}

    def restored(self, saved, arrays):
        if saved["width"] != 32:
            raise ValueError("it has another width")
        return 32, ""

    def _vector(self, text):
        padded = b" " + text + b" "
        trigrams = {padded[start : start + 3] for start in range(len(padded) - 2)} or {padded}
        return sum(map(self._direction, sorted(trigrams)))

    def _direction(self, trigram):
        digest = hashlib.blake2b(trigram, digest_size=self.width, key=b"%d" % self.seed).digest()
        return np.frombuffer(digest, dtype="int8").astype("float32")


@spacy.registry.architectures("tests.HashingEncoder.v1")
def make_hashing_encoder(seed: int = 0):
    return make_encoder("hashing_encoder", HashingShim(seed))
