"""A dense encoder without weights. It stands in a module of its own, where pickle finds it."""

import hashlib

import numpy as np
import spacy
from thinc.shims import Shim

from spacy_connorm.encoders import make_encoder


class HashingShim(Shim):
    """Adds up one random direction for each trigram, and remembers what it was asked to encode."""

    sparse = False
    extra = ""
    width = 0

    def __init__(self, seed):
        super().__init__(None)
        self.seed = seed
        self.encoded = []

    def load(self, texts):
        self.width = 32

    def inputs(self, texts):
        return [text.lower().encode() for text in texts]

    def encode(self, inputs, ops):
        self.encoded.extend(each.decode() for each in inputs)
        return np.vstack([self._vector(each) for each in inputs])

    def fingerprint(self):
        return f"hashes of {self.seed}"

    def to_bytes(self):
        return bytes([self.width])

    def from_bytes(self, data):
        (self.width,) = data
        return self

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
