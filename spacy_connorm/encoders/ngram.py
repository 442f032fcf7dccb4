"""Character n-gram TF-IDF as an encoder: nothing to download, sparse vectors."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import srsly
from thinc.api import Model, Ops
from thinc.shims import Shim
from thinc.types import Floats2d

from ..errors import ConnormError, Errors, refuse
from .ngram_range import LONGEST_NGRAM, is_ngram_range
from .protocol import make_encoder
from .verified import load_verified

_BLANK = " "


def NgramEncoder(
    *,
    analyzer: Literal["char", "char_wb"] = "char_wb",
    ngram_range: Sequence[int] = (1, 3),
    lowercase: bool = True,
    sublinear_tf: bool = False,
) -> Model[list[str], Floats2d]:
    """Build an encoder of character n-grams weighted by TF-IDF. `initialize` fits it to texts.
    Vectors are SciPy CSR matrices of shape (texts, n-grams), float32; n-grams that were not in
    those texts are ignored.

    analyzer (Literal["char", "char_wb"]): "char_wb" takes n-grams within words, padded with a space
        on either side; "char" also takes those across words.
    ngram_range (Sequence[int]): The shortest and the longest n-gram, in characters; at most 100.
    lowercase (bool): Whether to lower-case texts first.
    sublinear_tf (bool): Whether to weigh a count n as 1 + ln(n).
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an invalid range.
    """
    if not is_ngram_range(ngram_range):
        expected = f"two lengths from 1 to {LONGEST_NGRAM}, e.g. [1, 3]"
        refuse("ngram_range", ngram_range, expected)
    settings = {
        "analyzer": analyzer,
        "ngram_range": tuple(ngram_range),
        "lowercase": lowercase,
        "sublinear_tf": sublinear_tf,
    }
    return make_encoder("ngram_encoder", NgramShim(settings))


class NgramShim(Shim):
    """Holds a fitted vectorizer; saves its n-grams and their weights, without pickle."""

    sparse = True
    extra = ""

    def __init__(self, settings: dict[str, Any]) -> None:
        """settings (Dict[str, Any]): The arguments of `NgramEncoder`."""
        super().__init__(None, config=settings)

    @property
    def width(self) -> int:
        """RETURNS (int): The number of different n-grams; 0 before fitting."""
        return 0 if self._model is None else len(self._model.vocabulary)

    def load(self, texts: list[str] | None) -> None:
        """Fit to texts. Without texts, a fitted encoder is left as it is.

        texts (Optional[List[str]]): The texts, e.g. all names of an ontology.
        RAISES (ConnormError): CN310 if the texts have no n-grams.
        """
        if texts is not None or self._model is None:
            self._model = self._fit(self._normalize(texts or []))

    def encode(self, inputs: list[bytes], ops: Ops) -> Any:
        """RETURNS (scipy.sparse.csr_matrix): Shape (inputs, n-grams), float32."""
        if not inputs:
            from scipy.sparse import csr_matrix

            return csr_matrix((0, self.width), dtype="float32")
        # Older versions of scikit-learn compute in double precision.
        texts = [each.decode() for each in inputs]
        vectors = self._model.transform(texts).astype(np.float32, copy=False)
        return _without_blank_rows(vectors, self._model.vocabulary_.get(_BLANK))

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The normalized texts, as UTF-8."""
        return [text.encode() for text in self._normalize(texts)]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The normalized texts."""
        return self._normalize(texts)

    def fingerprint(self) -> str:
        """RETURNS (str): A checksum of the n-grams, their weights and the settings."""
        return _digest(repr(sorted(self.cfg.items())), *self._state())

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): The n-grams and their weights, without the settings."""
        if self._model is None:
            return b""
        ngrams, idf = self._state()
        return srsly.msgpack_dumps({"ngrams": ngrams, "idf": idf, "digest": _digest(ngrams, idf)})

    def from_bytes(self, data: bytes) -> "NgramShim":
        """Restore the n-grams and their weights.

        data (bytes): From `to_bytes`.
        RETURNS (NgramShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged.
        """
        if not data:
            self._model = None
            return self
        (ngrams, idf), _ = load_verified(data, _restore)
        self._model = self._fitted(ngrams, idf)
        return self

    def _normalize(self, texts: list[str]) -> list[str]:
        lowercase = self.cfg["lowercase"]
        return [" ".join((text.lower() if lowercase else text).split()) for text in texts]

    def _fit(self, texts: list[str]) -> Any:
        fitted = self._vectorizer()
        try:
            fitted.fit(texts)
        except ValueError as error:
            raise ConnormError(Errors.CN310.format(count=len(texts))) from error
        return self._fitted(sorted(fitted.vocabulary_), fitted.idf_)

    def _fitted(self, ngrams: list[str], idf: np.ndarray) -> Any:
        vectorizer = self._vectorizer(vocabulary=ngrams)
        vectorizer.idf_ = idf.astype("float32")
        return vectorizer

    def _vectorizer(self, vocabulary: list[str] | None = None) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(
            analyzer=self.cfg["analyzer"],
            ngram_range=self.cfg["ngram_range"],
            sublinear_tf=self.cfg["sublinear_tf"],
            lowercase=False,
            norm=None,
            vocabulary=vocabulary,
            dtype=np.float32,
        )

    def _state(self) -> tuple[str, bytes]:
        # N-grams have no line breaks: `_normalize` splits on white space.
        ngrams = "\n".join(self._model.vocabulary)
        return ngrams, self._model.idf_.astype("<f4").tobytes()


def _restore(saved: dict[str, Any]) -> tuple[tuple[list[str], np.ndarray], str]:
    ngrams, idf = saved["ngrams"].split("\n"), np.frombuffer(saved["idf"], dtype="<f4")
    if len(ngrams) != len(idf) or len(set(ngrams)) != len(ngrams) or not np.isfinite(idf).all():
        raise ValueError("its n-grams and their weights do not fit together")
    return (ngrams, idf), _digest(saved["ngrams"], saved["idf"])


def _without_blank_rows(vectors: Any, blank: int | None) -> Any:
    # Words are padded with blanks. Without this, two texts with no other known n-gram would have a
    # cosine of 1.
    if blank is None:
        return vectors
    has_blank = np.asarray(vectors[:, [blank]].todense()).ravel() > 0
    is_blank = has_blank & (np.diff(vectors.indptr) == 1)
    vectors.data[np.repeat(is_blank, np.diff(vectors.indptr))] = 0
    return vectors


def _digest(*parts: str | bytes) -> str:
    content = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        content.update(len(raw).to_bytes(8, "little"))
        content.update(raw)
    return content.hexdigest()
