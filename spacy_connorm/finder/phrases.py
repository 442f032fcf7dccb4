"""Phrases that may be mentions though no name has their words: the encoder says how near a name
is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from spacy.tokens import Doc

from ..errors import ConnormError, Errors
from .found_mentions import FoundMention, choose_mentions
from .name_windows import find_phrases
from .token_words import by_document, document_offsets

if TYPE_CHECKING:
    from .name_finder import NameFinder

# Longer phrases are rarely mentions, and every one is searched.
_MAX_WORDS = 4


def add_phrases(
    docs: Sequence[Doc],
    found: Sequence[Sequence[FoundMention]],
    finder: "NameFinder",
    *,
    normalizer: str,
) -> list[list[FoundMention]]:
    """Add phrases beside the names that were found.

    docs (Sequence[Doc]): The documents.
    found (Sequence[Sequence[FoundMention]]): The names in each.
    finder (NameFinder): What found them.
    normalizer (str): The name of the component whose encoder compares phrases with names.
    RETURNS (List[List[FoundMention]]): Names and phrases of each document, in order.
    RAISES (ConnormError): CN422 if the scores are inner products.
    """
    if not finder.retriever.has_cosines:
        what, mend = "The setting `phrase_threshold`", "Set it to null."
        raise ConnormError(Errors.CN422.format(what=what, name=normalizer, mend=mend))
    windows = [
        [(start, end, doc[start:end].text) for start, end in own]
        for doc, own in zip(docs, _phrases(docs, found, finder), strict=True)
    ]
    near = finder.near_phrases(text for own in windows for _, _, text in own)
    overlaps = "all" if finder.settings["overlaps"] == "all" else "best"
    joined = []
    for names, own in zip(found, windows, strict=True):
        phrases = [
            FoundMention(start, end, *near[text]) for start, end, text in own if text in near
        ]
        kept = choose_mentions(phrases, overlaps)
        joined.append(sorted([*names, *kept]))
    return joined


def _phrases(
    docs: Sequence[Doc], found: Sequence[Sequence[FoundMention]], finder: "NameFinder"
) -> list[list[tuple[int, int]]]:
    """RETURNS (List[List[Tuple[int, int]]]): By document, without those of too few letters."""
    tokens = finder.read(docs)
    offsets = document_offsets(docs)
    is_taken = np.zeros(len(tokens.kinds), dtype="bool")
    for first, names in zip(offsets, found, strict=False):
        for each in names:
            is_taken[first + each.start : first + each.end] = True
    phrases = find_phrases(tokens, finder.names, is_taken, max_words=_MAX_WORDS)
    letters = np.concatenate([[0], np.cumsum(tokens.letters)])
    enough = letters[phrases.ends] - letters[phrases.starts] >= finder.settings["min_letters"]
    chunks = _noun_chunks(docs)
    is_kept = enough & (chunks[phrases.starts] == chunks[phrases.ends - 1])
    is_kept &= chunks[phrases.starts] >= 0
    starts, ends = phrases.starts[is_kept], phrases.ends[is_kept]
    return [
        list(zip((starts[own] - offset).tolist(), (ends[own] - offset).tolist(), strict=True))
        for offset, own in zip(offsets, by_document(starts, offsets), strict=False)
    ]


def _noun_chunks(docs: Sequence[Doc]) -> np.ndarray:
    """RETURNS (Ints1d): int64 (t,): the number of each token's noun chunk in its document, -1 for
    other tokens. A document that no parser has read is one chunk.
    """
    numbers = []
    for doc in docs:
        is_parsed = doc.has_annotation("DEP") and doc.vocab.get_noun_chunks is not None
        own = np.full(len(doc) + 1, -1 if is_parsed else 0, dtype="int64")
        for number, chunk in enumerate(doc.noun_chunks if is_parsed else ()):
            own[chunk.start : chunk.end] = number
        numbers.append(own)
    return np.concatenate(numbers)
