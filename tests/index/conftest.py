"""A small ontology, its annotated data, and an encoder whose vectors are drawn from the text."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.concepts import Concept
from spacy_connorm.encoders.protocol import Encoder, make_encoder
from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.encoders.shims import EncoderShim
from spacy_connorm.index.backends import exact
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.builder import write_index
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.search import SEARCHES

WIDTH = 12
WEIGHT = 0.4
# So many of its lists are read that nothing is missed, yet not by looking at all.
LISTS = IvfIndex(lists=8, probes=4, oversample=8, exact_below=100)


def vector(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(text.lower().encode(), digest_size=4).digest(), "big")
    rng = np.random.default_rng(seed)
    # Raw vectors of very different lengths, so that a mean of unit vectors would not do.
    return (rng.normal(size=WIDTH) * rng.uniform(0.2, 5)).astype("float32")


def encode(texts: list[str]) -> np.ndarray:
    return np.vstack([vector(text) for text in texts])


def encode_sparsely(texts: list[str]) -> sparse.csr_matrix:
    return sparse.csr_matrix(np.maximum(encode(texts), 0))


def encode_both(texts: list[str]) -> HybridArray:
    """Either side knows nothing of some texts."""
    dense, lexical = encode(texts), encode_sparsely([f"{text} spelt" for text in texts])
    for row, text in enumerate(texts):
        dense[row] *= "5" not in text
        lexical.data[lexical.indptr[row] : lexical.indptr[row + 1]] *= "6" not in text
    return HybridArray(dense, lexical, WEIGHT)


def inputs(texts: list[str]) -> list[bytes]:
    return [text.lower().encode() for text in texts]


@dataclass(frozen=True)
class FakeEncoder:
    """An encoder made of two functions."""

    inputs: Callable
    encode: Callable
    name: str

    @property
    def model(self) -> Encoder:
        return make_encoder(self.name, FakeShim(self))


class FakeShim(EncoderShim):
    width = WIDTH
    load = contents = restored = None  # it is never loaded or saved

    def __init__(self, fake: FakeEncoder) -> None:
        super().__init__(fake.name)
        self.hold(fake, digest=fake.name)

    def inputs(self, texts: list[str]) -> list[bytes]:
        return self._model.inputs(texts)

    def encode(self, inputs: list[bytes]) -> Any:
        return self._model.encode([key.decode() for key in inputs])


DENSE = FakeEncoder(inputs, encode, "dense")
SPARSE = FakeEncoder(inputs, encode_sparsely, "sparse")
HYBRID = FakeEncoder(inputs, encode_both, "hybrid")


def make_concepts() -> list[Concept]:
    """60 concepts; "shared" denotes every fifth, "Name 7" is the name of one and an alias of
    another, written otherwise."""
    return [
        Concept(
            concept_id=f"C{number:03}",
            canonical_name=f"Name {number}",
            aliases=(
                *(f"alias {number} {place}" for place in range(number % 4)),
                *(("shared",) if number % 5 == 0 else ()),
                *(("NAME 7",) if number == 8 else ()),
            ),
            types=("even",) if number % 2 == 0 else ("odd", "rare") if number == 31 else ("odd",),
            parents=(f"C{number // 2:03}",) if number else (),
            alt_ids=(f"A{number:03}",) if number < 5 else (),
        )
        for number in range(60)
    ]


def make_synonyms() -> list[tuple[str, str]]:
    return [
        *((f"mention {number}", f"C{number % 20:03}") for number in range(70)),
        ("Shared", "C010"),
        ("shared", "C010"),
        ("shared", "C015"),
        ("alias 3 0", "C003"),
        ("unheard of", "X1"),
    ]


def build(
    path: Path,
    *,
    encoder=DENSE,
    backend=None,
    synonyms=None,
    concepts=None,
    known=None,
) -> ConceptIndex:
    backend = backend or ExactIndex()
    write_index(
        path,
        make_concepts() if concepts is None else concepts,
        make_synonyms() if synonyms is None else synonyms,
        encoder.model,
        searches=SEARCHES,
        backend=backend,
        language="en",
        known=known,
    )
    return ConceptIndex(path, backend)


@pytest.fixture(
    scope="module",
    params=[
        (DENSE, ExactIndex()),
        (DENSE, AnnoyIndex(exact_below=0, n_trees=20, search_k=2000)),
        (SPARSE, AnnoyIndex()),
        (HYBRID, ExactIndex()),
        (HYBRID, AnnoyIndex(exact_below=0, n_trees=20, search_k=2000)),
        (DENSE, LISTS),
        (SPARSE, LISTS),
        (HYBRID, LISTS),
        (SPARSE, ExactIndex()),
    ],
    ids=[
        "exact",
        "annoy",
        "sparse",
        "hybrid-exact",
        "hybrid-annoy",
        "lists",
        "lists-sparse",
        "lists-hybrid",
        "postings",
    ],
)
def index(request, tmp_path_factory) -> Iterator[ConceptIndex]:
    """An index of each kind. Tests do not change it."""
    encoder, backend = request.param
    path = tmp_path_factory.mktemp("built") / "index"
    with pytest.MonkeyPatch.context() as patch:
        if (encoder, backend) == (SPARSE, ExactIndex()):
            patch.setattr(exact, "LEAST_ROWS", 1)
            patch.setattr(exact, "_LARGEST_SHARE", 1)
        with pytest.warns(UserWarning, match="CNW401"):
            built = build(path, encoder=encoder, backend=backend)
        yield built


@pytest.fixture
def encoder_of(index):
    encoders = {encoder.name: encoder for encoder in (DENSE, SPARSE, HYBRID)}
    return encoders[index.fingerprint]
