"""Phrases that may be mentions though no name has their words: the encoder says how near a name
is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..errors import ConnormError, Errors
from ..index.metrics import COSINE
from ..linker.name_windows import find_phrases
from .concept_normalizer import ConceptNormalizer
from .found_mentions import FoundMention, choose_mentions
from .token_words import by_document, document_offsets

if TYPE_CHECKING:
    from .name_finder import NameFinder

# Longer phrases are rarely mentions, and every one is searched.
_MAX_WORDS = 4


class _Nearest(NamedTuple):
    """What is nearest to a phrase."""

    score: float
    concept_id: str


def add_phrases(
    docs: Sequence[Doc],
    found: Sequence[Sequence[FoundMention]],
    finder: "NameFinder",
    normalizer: ConceptNormalizer,
    *,
    threshold: float,
    overlaps: str,
) -> list[list[FoundMention]]:
    """Add phrases beside the names that were found.

    docs (Sequence[Doc]): The documents.
    found (Sequence[Sequence[FoundMention]]): The names in each.
    finder (NameFinder): What found them.
    normalizer (ConceptNormalizer): Scores phrases.
    threshold (float): The least score of a phrase, 0 to 1.
    overlaps (str): Which of several phrases is kept; see `choose_mentions`.
    RETURNS (List[List[FoundMention]]): Names and phrases of each document, in order.
    RAISES (ConnormError): CN422 if the scores are inner products.
    """
    if normalizer.lookup.index.metric != COSINE:
        mend = "Set it to null."
        what = "The setting `phrase_threshold`"
        raise ConnormError(Errors.CN422.format(what=what, name=normalizer.name, mend=mend))
    windows = _phrases(docs, found, finder)
    texts = list(
        dict.fromkeys(
            doc[start:end].text
            for doc, own in zip(docs, windows, strict=True)
            for start, end in own
        )
    )
    nearest = _nearest(texts, normalizer)
    joined = []
    for doc, names, own in zip(docs, found, windows, strict=True):
        phrases = [
            FoundMention(start, end, best.score, finder.label_of(best.concept_id))
            for start, end in own
            if (best := nearest.get(doc[start:end].text)) is not None and best.score >= threshold
        ]
        kept = choose_mentions(phrases, "all" if overlaps == "all" else "best")
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


def _nearest(texts: Sequence[str], normalizer: ConceptNormalizer) -> dict[str, _Nearest]:
    return {
        text: _Nearest(candidates[0].score, candidates[0].concept_id)
        for text, candidates in zip(texts, normalizer.candidates(texts, top_k=1), strict=True)
        if candidates
    }
