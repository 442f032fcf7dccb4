"""The texts of all tokens of documents, and those of several documents as one, so that a pattern is
searched for once in all of them.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc

# After a token; the last one, which is neither a word nor a space, after a document.
_AFTER = ("", " ", "\0")
_END = np.array([[0, 2]], dtype="uint64")


def texts_of(doc: Doc, attribute: int) -> list[str]:
    """Get a text of each token, faster than token by token.

    doc (Doc): The document.
    attribute (int): One of spaCy's, such as ORTH or LOWER.
    RETURNS (List[str]): The texts.
    """
    strings = doc.vocab.strings
    return [strings[key] for key in doc.to_array(attribute).tolist()]


class JoinedTexts:
    """The tokens of n documents, each of which is followed by an empty token.

    docs (Sequence[Doc]): The documents.
    offsets (List[int]): n + 1: the first token of each document, and the number t of all.
    text (str): The texts of the documents. A sign that no match of a pattern goes across follows
        each.
    starts (List[int]): t: the first character of each token.
    ends (List[int]): t: the character after each.
    tokens (List[str]): t: the text of each.
    distinct (List[str]): The different ones of these.
    which (Ints1d): int64 (t,): the number of each token's text among these.
    are_joined (np.ndarray): bool (t,): whether nothing is between a token and the next.
    """

    def __init__(self, docs: Sequence[Doc]) -> None:
        """Join the texts of documents, which takes spaCy longer.

        docs (Sequence[Doc]): The documents, perhaps of several vocabularies.
        """
        self.docs = docs
        self.offsets: list[int] = np.cumsum([0, *(len(doc) + 1 for doc in docs)]).tolist()
        parts = [part for doc in docs for part in (doc.to_array([ORTH, SPACY]), _END)]
        written, after = np.concatenate([_END[:0], *parts]).T
        orths, self.which = np.unique(written, return_inverse=True)
        vocabs = {id(doc.vocab): doc.vocab for doc in docs}
        known = [vocab.strings for vocab in vocabs.values()]
        self.distinct = [
            next((strings[orth] for strings in known if orth in strings), "")
            for orth in orths.tolist()
        ]
        self.tokens = [self.distinct[number] for number in self.which.tolist()]
        between = map(_AFTER.__getitem__, after.tolist())
        self.text = "".join(chain.from_iterable(zip(self.tokens, between, strict=True)))
        self.are_joined = after == 0
        lengths = np.array([*map(len, self.distinct)], dtype="int64")[self.which]
        ends = np.cumsum(lengths + ~self.are_joined) - ~self.are_joined
        self.starts: list[int] = (ends - lengths).tolist()
        self.ends: list[int] = ends.tolist()

    def part(self, first: int, last: int) -> str:
        """Get the text of some tokens.

        first (int): The first one.
        last (int): The token after the last.
        RETURNS (str): Their text, without a space after it.
        """
        return self.text[self.starts[first] : self.ends[last - 1]]

    @cached_property
    def _lowered(self) -> list[str]:
        lowered = [text.lower() for text in self.distinct]
        return [lowered[number] for number in self.which.tolist()]

    def document(self, number: int) -> "DocumentTokens":
        """Select the tokens of a document.

        number (int): The document.
        RETURNS (DocumentTokens): Its tokens, without the empty one.
        """
        first, own = self.offsets[number], slice(self.offsets[number], self.offsets[number + 1] - 1)
        texts, lowered, are_joined = self.tokens[own], self._lowered[own], self.are_joined[own]
        return DocumentTokens(self, first, texts, lowered, are_joined.tolist())

    def token_before(self, place: int) -> int | None:
        """Find the token that has the character before a place in the text.

        place (int): The place.
        RETURNS (Optional[int]): The token; None if the character is a space or follows a document.
        """
        token = bisect_right(self.starts, place - 1) - 1
        return token if token >= 0 and place <= self.ends[token] else None

    def by_document(self, tokens: np.ndarray) -> list[np.ndarray]:
        """Sort tokens into documents.

        tokens (Ints1d): int64 (w,): some tokens, such as the first ones of windows.
        RETURNS (List[Ints1d]): For each document, their numbers in this array, int64, by token.
        """
        order = np.argsort(tokens, kind="stable")
        bounds = np.searchsorted(tokens[order], self.offsets).tolist()
        return [order[first:last] for first, last in pairwise(bounds)]


class DocumentTokens(NamedTuple):
    """The n tokens of one of several documents.

    all (JoinedTexts): The tokens of all.
    first (int): The first one of this document among these.
    texts (List[str]): n: their texts.
    lowered (List[str]): n: the same in lower case.
    are_joined (List[bool]): n: whether nothing is between a token and the next.
    """

    all: JoinedTexts
    first: int
    texts: list[str]
    lowered: list[str]
    are_joined: list[bool]

    def part(self, start: int, end: int) -> str:
        """Get the text of some tokens.

        start (int): The first one.
        end (int): The token after the last.
        RETURNS (str): Their text, without a space after it.
        """
        return self.all.part(self.first + start, self.first + end)
