"""Any number of made-up concepts and vectors, to measure memory, files and time. Recall and
accuracy on them mean nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spacy_connorm.concepts import Concept

NAMES_A_CONCEPT = 3
_SYLLABLES = ("al", "cor", "der", "fi", "gas", "hep", "itis", "ka", "lum", "mor", "neu", "osis")
_WORDS = 20_736  # four syllables
_BUCKETS = 1 << 14
_SEED = 13


def make_concepts(names: int, *, changed: float = 0.0) -> Iterator[Concept]:
    """Make up concepts, always the same for the same arguments.

    names (int): About how many names they have together.
    changed (float): The share of concepts whose names differ from those with 0.
    YIELDS (Concept): Concepts of three names.
    """
    words = ["".join(_syllables(number)) for number in range(_WORDS)]
    rng = np.random.default_rng(_SEED)
    for concept in range(max(names // NAMES_A_CONCEPT, 1)):
        if concept % 4096 == 0:
            picked = rng.integers(_WORDS, size=(4096, NAMES_A_CONCEPT, 3)).tolist()
            is_changed = rng.random(4096) < changed
        ending = " x" if is_changed[concept % 4096] else ""
        first, *others = (
            f"{words[one]} {words[two]} {words[three]} {concept % 97}{ending}"
            for one, two, three in picked[concept % 4096]
        )
        yield Concept(f"C{concept:08}", first, tuple(others), types=(f"T{concept % 50:03}",))


def _syllables(number: int) -> Iterator[str]:
    for _ in range(4):
        number, syllable = divmod(number, len(_SYLLABLES))
        yield _SYLLABLES[syllable]


@dataclass(frozen=True)
class SyntheticEncoder:
    """What `write_index` asks of an encoder."""

    inputs: Callable[[list[str]], list[bytes]]
    encode: Callable[[list[str]], np.ndarray]
    name: str

    def fingerprint(self) -> str:
        return self.name


def make_encoder(dims: int) -> SyntheticEncoder:
    """RETURNS (SyntheticEncoder): Sums a random direction for each trigram of bytes.

    dims (int): The width of its vectors.
    """
    directions = np.random.default_rng(_SEED).standard_normal((_BUCKETS, dims), dtype="float32")

    def encode(texts: list[str]) -> np.ndarray:
        return trigrams(texts) @ directions

    name = f"made up, {dims}"
    return SyntheticEncoder(lambda texts: [text.encode() for text in texts], encode, name)


def trigrams(texts: list[str]) -> sparse.csr_matrix:
    """RETURNS (csr_matrix): float32 (texts, buckets): counts of trigrams."""
    parts = [f"  {text} ".encode() for text in texts]
    sizes = np.asarray([len(part) for part in parts])
    characters = np.frombuffer(b"".join(parts), dtype="uint8").astype("int64")
    codes = np.zeros(len(characters), dtype="int64")
    codes[:-2] = (characters[:-2] << 16) + (characters[1:-1] << 8) + characters[2:]
    # Trigrams must not reach into the next text.
    ends = np.cumsum(sizes)
    inside = np.ones(len(codes), dtype="bool")
    inside[ends - 1] = inside[ends - 2] = False
    buckets = (codes[inside] * 0x9E3779B1 >> 8) % _BUCKETS
    pointers = np.concatenate([[0], np.cumsum(sizes - 2)])
    counts = np.ones(len(buckets), dtype="float32")
    return sparse.csr_matrix((counts, buckets, pointers), shape=(len(texts), _BUCKETS))
