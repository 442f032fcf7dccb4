"""Character n-grams weighted by TF-IDF as an encoder: sparse vectors, nothing to download."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import Errors, refuse
from ..lang import strip_accents
from .protocol import make_encoder
from .raw import make_csr
from .shims import EncoderShim
from .storage import digest_parts

# Time grows with the length, and longer n-grams add nothing to shorter ones.
_LONGEST = 100
_BLANK = " "


def NgramEncoder(
    *,
    analyzer: Literal["char", "char_wb"] = "char_wb",
    ngram_range: Sequence[int] = (1, 3),
) -> Model[list[str], Floats2d]:
    """Build an encoder of lower-case character n-grams without accents, weighted by TF-IDF.
    `initialize` fits it to texts. Vectors are SciPy CSR matrices of shape (texts, n-grams),
    float32; n-grams that were not in those texts are ignored.

    analyzer (Literal["char", "char_wb"]): "char_wb" uses n-grams within words, padded with a space
        on either side; "char" also uses n-grams across words.
    ngram_range (Sequence[int]): The shortest and the longest n-gram, in characters; at most 100.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an invalid range.
    """
    require_ngram_range(ngram_range)
    settings = {"analyzer": analyzer, "ngram_range": tuple(ngram_range)}
    return make_encoder("ngram_encoder", NgramShim(settings))


def is_ngram_range(lengths: Sequence[int]) -> bool:
    """Check whether two numbers can be the lengths of the shortest and the longest n-gram.

    RETURNS (bool): True if they can.
    """
    if len(lengths) != 2 or not all(type(length) is int for length in lengths):
        return False
    return 1 <= lengths[0] <= lengths[1] <= _LONGEST


def require_ngram_range(lengths: Sequence[int]) -> None:
    """Refuse invalid lengths of n-grams.

    RAISES (ConnormError): CN006.
    """
    if not is_ngram_range(lengths):
        refuse("ngram_range", lengths, f"two lengths from 1 to {_LONGEST}, e.g. [1, 3]")


def split_ngrams(
    text: str, *, analyzer: Literal["char", "char_wb"], ngram_range: tuple[int, int]
) -> list[str]:
    """Split a text into n-grams, as scikit-learn does.

    text (str): A text with single spaces.
    analyzer (Literal["char", "char_wb"]): See `NgramEncoder`.
    ngram_range (Tuple[int, int]): See `NgramEncoder`.
    RETURNS (List[str]): The n-grams. A word that is shorter than all of them is one of them.
    """
    shortest, longest = ngram_range
    within_words = analyzer == "char_wb"
    parts = [f" {word} " for word in text.split()] if within_words else [text]
    return [
        part[start : start + length]
        for part in parts
        for length in range(
            min(shortest, len(part)) if within_words else shortest, min(longest, len(part)) + 1
        )
        for start in range(len(part) - length + 1)
    ]


class WeightedNgrams(NamedTuple):
    """The n-grams of the texts that an encoder was fitted to.

    columns (Dict[str, int]): The column of each n-gram; they are in alphabetical order.
    idf (Floats1d): float32 (n-grams,): their weights.
    """

    columns: dict[str, int]
    idf: np.ndarray

    @property
    def width(self) -> int:
        """The number of different n-grams.

        RETURNS (int): At least 1.
        """
        return len(self.columns)


class NgramShim(EncoderShim):
    """Holds n-grams and their weights, and saves them as plain arrays."""

    sparse = True
    fits = True

    def __init__(self, settings: dict[str, Any]) -> None:
        """Store the settings.

        settings (Dict[str, Any]): The arguments of `NgramEncoder`.
        """
        super().__init__()
        self.cfg = settings

    def load(self, texts: list[str] | None) -> None:
        """Fit to texts. Without texts, a fitted encoder does not change.

        texts (Optional[List[str]]): The texts, e.g. all names of an ontology.
        RAISES (ConnormError): CN409 if the texts have no n-grams.
        """
        if texts is not None or self._model is None:
            fitted = self._fit([key.decode() for key in self.inputs(texts or [])])
            self.hold(fitted, digest_parts(*_state(fitted)))

    def encode(self, inputs: list[bytes]) -> Any:
        """Compute TF-IDF vectors.

        RETURNS (scipy.sparse.csr_matrix): Shape (inputs, n-grams), float32.
        """
        columns, idf = self._model
        blank = columns.get(_BLANK)
        indices: list[int] = []
        counts: list[int] = []
        bounds = [0]
        for key in inputs:
            times = Counter(map(columns.get, split_ngrams(key.decode(), **self.cfg)))
            del times[None]  # n-grams that were not in the texts
            # Words are padded with spaces. Otherwise, two texts with no other known n-gram would
            # have a cosine of 1.
            if list(times) != [blank]:
                known = sorted(times)
                indices += known
                counts += [times[column] for column in known]
            bounds.append(len(indices))
        which = np.array(indices, dtype="int32")
        data = np.array(counts, dtype="float32") * idf[which]
        return make_csr((data, which, np.array(bounds, dtype="int32")), len(columns))

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Normalize texts.

        RETURNS (List[bytes]): The texts in lower case, without accents and with single spaces, as
            UTF-8.
        """
        lower = map(str.lower, texts)
        plain = [text if text.isascii() else strip_accents(text) for text in lower]
        return [" ".join(text.split()).encode() for text in plain]

    def fingerprint(self) -> str:
        """Compute a checksum of the n-grams, their weights and the settings.

        RETURNS (str): See `fingerprint`.
        """
        return digest_parts(repr(sorted(self.cfg.items())), *_state(self._model))

    @property
    def weights(self) -> np.ndarray:  # type: ignore[override]
        """What the counts of n-grams are multiplied by.

        RETURNS (Floats1d): float32 (n-grams,).
        """
        return self._model.idf

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect the n-grams and their weights, without the settings.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        ngrams, idf = _state(self._model)
        return {"ngrams": ngrams, "idf": idf}, {}

    def restored(self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> tuple[Any, str]:
        """Restore n-grams.

        RETURNS (Tuple): The n-grams and their checksum.
        """
        ngrams, idf = saved["ngrams"].split("\n"), np.frombuffer(saved["idf"], dtype="<f4")
        if len(ngrams) != len(idf) or len(set(ngrams)) != len(ngrams) or not np.isfinite(idf).all():
            raise ValueError("its n-grams and their weights do not fit together")
        return _weighted(ngrams, idf), digest_parts(saved["ngrams"], saved["idf"])

    def _fit(self, texts: list[str]) -> WeightedNgrams:
        having: Counter[str] = Counter()
        for text in texts:
            having.update(set(split_ngrams(text, **self.cfg)))
        if not having:
            raise Errors.CN409()
        ngrams = sorted(having)
        counts = np.array([having[ngram] for ngram in ngrams], dtype="float32")
        # As if one more text had all of them, and none weighs nothing.
        return _weighted(ngrams, np.log(np.float32(len(texts) + 1) / (counts + 1)) + 1)


def _weighted(ngrams: list[str], idf: np.ndarray) -> WeightedNgrams:
    columns = {ngram: column for column, ngram in enumerate(ngrams)}
    return WeightedNgrams(columns, idf.astype("float32"))


def _state(fitted: WeightedNgrams) -> tuple[str, bytes]:
    # N-grams have no line breaks, since `inputs` splits at white space.
    return "\n".join(fitted.columns), fitted.idf.astype("<f4").tobytes()
