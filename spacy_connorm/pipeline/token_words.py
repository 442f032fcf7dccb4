"""The words of tokens, as arrays for `linker.name_windows`."""

import re
from collections.abc import Sequence

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc

from ..annotations.abbreviations import abbreviation_spans, read_abbreviations
from ..linker.name_windows import BREAK, FILLER, WORD, TokenArrays
from ..text.word_bags import STOP_WORDS, hash_bag, normalized_words

_POSSESSIVES = frozenset(["'", "’", "'s", "’s", "'S", "’S"])
# Punctuation that no mention goes beyond, and empty lines. Dashes and slashes stand within names.
_BREAK = re.compile(r"""[.,;:?!()\[\]{}"“”…|]|\n\s*\n""")
_MOST_TOKENS = 200_000
_NO_TOKEN = np.zeros(1, dtype="uint64")


class TokenWords:
    """Turns documents into arrays. The words of each distinct token are cached."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: dict[int, tuple[int, int, int, int]] = {}

    def __reduce__(self) -> tuple:
        return TokenWords, ()

    def read(self, docs: Sequence[Doc], *, expand_abbreviations: bool) -> TokenArrays:
        """Read documents. A break follows each of them.

        docs (Sequence[Doc]): The documents.
        expand_abbreviations (bool): Whether a short form that a document defines has the words of
            its long form.
        RETURNS (TokenArrays): The tokens of each document and its break.
        """
        parts = [part for doc in docs for part in (doc.to_array(ORTH), _NO_TOKEN)]
        orths, which = np.unique(np.concatenate([_NO_TOKEN[:0], *parts]), return_inverse=True)
        columns = self._arrays(orths.tolist(), docs)
        hashes, sizes, letters, kinds = (column[which] for column in columns)
        tokens = TokenArrays(hashes, sizes, letters, kinds, np.arange(1, len(which) + 1))
        start = 0
        for doc in docs if expand_abbreviations else ():
            _expand(tokens, doc, start)
            start += len(doc) + 1
        return tokens

    def _arrays(self, orths: list[int], docs: Sequence[Doc]) -> tuple[np.ndarray, ...]:
        if len(self._known) > _MOST_TOKENS:
            self._known.clear()
        for orth in orths:
            if orth not in self._known:
                text = docs[0].vocab.strings[orth] if orth else ""
                self._known[orth] = _read_token(text)
        rows = [self._known[orth] for orth in orths]
        columns = zip(*rows, strict=True) if rows else ((), (), (), ())
        kinds = ("uint64", "int32", "int32", "uint8")
        return tuple(
            np.asarray(column, dtype) for column, dtype in zip(columns, kinds, strict=True)
        )


def _read_token(text: str) -> tuple[int, int, int, int]:
    """RETURNS (Tuple[int, int, int, int]): Hash, size, letters and kind, see `TokenArrays`."""
    if not text or (_BREAK.search(text) and not any(map(str.isalnum, text))):
        return 0, 0, 0, BREAK
    return _of_words([] if text in _POSSESSIVES else normalized_words(text))


def _of_words(words: Sequence[str]) -> tuple[int, int, int, int]:
    content = [word for word in words if word not in STOP_WORDS]
    if not content:
        return 0, 0, 0, FILLER
    return hash_bag(tuple(content)), len(content), sum(map(len, content)), WORD


def _expand(tokens: TokenArrays, doc: Doc, start: int) -> None:
    """Give the short forms of a document the words of their long forms.

    tokens (TokenArrays): Changed in place.
    doc (Doc): The document.
    start (int): Its first token.
    """
    abbreviations = read_abbreviations(doc)
    for span in abbreviation_spans(doc):
        long_form = abbreviations.long_form(span.text, span.end_char - 1)
        if long_form:
            first, last = start + span.start, start + span.end
            *counts, kind = _of_words(normalized_words(long_form))
            for column, value in zip(tokens, (*counts, kind, last), strict=True):
                column[first] = value
            tokens.kinds[first + 1 : last] = FILLER
