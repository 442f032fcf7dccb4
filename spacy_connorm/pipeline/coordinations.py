"""Mentions that share words with a neighbour: "breast and ovarian cancer" is one mention of two
names, though only "ovarian cancer" has the words of one.
"""

from collections.abc import Callable, Iterator, Sequence

from spacy.tokens import Doc

from ..text.composites import split_composite
from ..text.word_bags import STOP_WORDS
from .found_mentions import FoundMention

_CONJUNCTIONS = frozenset(["and", "or", "and/or", "/", "&"])
# Commas join only what a conjunction already joins: "breast, ovarian and lung cancer".
_LISTED = _CONJUNCTIONS | {","}
_MOST_WORDS = 3
_MOST_PARTS = 6


def join_coordinations(
    docs: Sequence[Doc],
    found: Sequence[Sequence[FoundMention]],
    is_name: Callable[[str], bool],
) -> list[list[FoundMention]]:
    """Widen mentions over what is coordinated with them, if each part is a name. Normalizers split
    such mentions again.

    docs (Sequence[Doc]): The documents.
    found (Sequence[Sequence[FoundMention]]): The mentions of each in order, none of which overlap.
    is_name (Callable[[str], bool]): Whether a text is a name.
    RETURNS (List[List[FoundMention]]): The same mentions, some of them wider.
    """
    return [_join(doc, mentions, is_name) for doc, mentions in zip(docs, found, strict=True)]


def _join(
    doc: Doc, mentions: Sequence[FoundMention], is_name: Callable[[str], bool]
) -> list[FoundMention]:
    joined: list[FoundMention] = []
    for place, mention in enumerate(mentions):
        first = joined[-1].end if joined else 0
        last = mentions[place + 1].start if place + 1 < len(mentions) else len(doc)
        joined.append(_widen(doc, mention, first, last, is_name))
    return joined


def _widen(
    doc: Doc, mention: FoundMention, first: int, last: int, is_name: Callable[[str], bool]
) -> FoundMention:
    """RETURNS (FoundMention): The widest of its kind between two tokens."""
    for place in range(_MOST_PARTS):
        joining = _LISTED if place else _CONJUNCTIONS
        for start, end in _wider(doc, mention, first, last, joining):
            text = " ".join(doc[start:end].text.split())
            if any(all(map(is_name, parts)) for parts in split_composite(text)):
                mention = mention._replace(start=start, end=end)
                break
        else:
            break
    return mention


def _wider(
    doc: Doc, mention: FoundMention, first: int, last: int, joining: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """YIELDS (Tuple[int, int]): First token and the token after of windows with one part more."""
    start, end = mention.start, mention.end
    if start - first > 1 and doc[start - 1].lower_ in joining:
        for place in range(start - 2, max(start - 2 - _MOST_WORDS, first - 1), -1):
            if not _is_word(doc, place):
                break
            if _has_content(doc, place):
                yield place, end
    if last - end > 1 and doc[end].lower_ in joining:
        for place in range(end + 1, min(end + 1 + _MOST_WORDS, last)):
            if not _is_word(doc, place):
                break
            if _has_content(doc, place):
                yield start, place + 1


def _has_content(doc: Doc, place: int) -> bool:
    # "fracture of the femur and with" would be two fractures, one of them without a place.
    return doc[place].lower_ not in STOP_WORDS


def _is_word(doc: Doc, place: int) -> bool:
    token = doc[place]
    return token.lower_ not in _LISTED and any(map(str.isalnum, token.text))
