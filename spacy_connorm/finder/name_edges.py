"""What is beside the first and the last content word of a name: "in" of "in situ carcinoma", the
bracket after "edema (hand)", the plus of "Ca2+". Windows of `linker.name_windows` end at these
words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from spacy.tokens import Doc

from ..text.word_bags import STOP_WORDS, normalized_words

# Before the first word of a list item: "1.", "(12)".
_MARKER = re.compile(r"\W?\d{1,2}\W?")
_BRACKETS = (("(", ")"), ("[", "]"))
# At the end of a name: "CD4+", "Ca(2+)". spaCy makes tokens of them.
_SIGN = re.compile(r"(?<=\w)[+-]\)?$")


class Edge(NamedTuple):
    """A name that begins or ends with small words, or ends with a sign.

    before (int): How many small words it begins with.
    after (int): How many small words, or tokens of the sign, it ends with.
    words (List[str]): All its words.
    sign (str): What it ends with, if that is a sign: "+", "+)".
    """

    before: int
    after: int
    words: list[str]
    sign: str = ""

    def is_at(self, doc: Doc, first: int, last: int) -> bool:
        """RETURNS (bool): Whether these tokens are the name."""
        text = doc[first:last].text
        return text.endswith(self.sign) and normalized_words(text) == self.words


def edges_of(names: Iterable[str]) -> tuple[Edge, ...]:
    """RETURNS (Tuple[Edge, ...]): The names that begin or end with small words, besides others, and
    those that end with a sign.
    """
    return tuple(edge for name in names for edge in _edges(name))


def _edges(name: str) -> Iterator[Edge]:
    words = normalized_words(name)
    if sign := _SIGN.search(name):
        # The tokenizer may have left a part of it with the word.
        yield from (Edge(0, size, words, sign[0]) for size in range(1, len(sign[0]) + 1))
    before, after = _count_small(words), _count_small(words[::-1])
    if 0 < before + after < len(words):
        yield Edge(before, after, words)


def _count_small(words: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(STOP_WORDS.__contains__, words))


def widen(doc: Doc, start: int, end: int, edges: Sequence[Edge]) -> tuple[int, int]:
    """Add to a window the small words or the sign that a name has beside it, or the other one of a
    pair of brackets.

    doc (Doc): The document.
    start (int): The first token of the window.
    end (int): The token after it.
    edges (Sequence[Edge]): Those of the names that have its words.
    RETURNS (Tuple[int, int]): The start and the end of the wider window.
    """
    for edge in edges:
        first, last = max(0, start - edge.before), min(len(doc), end + edge.after)
        if edge.is_at(doc, first, last):
            return first, last
    before, after = doc[start - 1].text if start else "", doc[end].text if end < len(doc) else ""
    for opening, closing in _BRACKETS:
        if before == opening or after == closing:
            text = doc[start:end].text
            missing = text.count(opening) - text.count(closing)
            start -= missing < 0 and before == opening
            end += missing > 0 and after == closing
    return start, end


def stands_alone(doc: Doc, start: int, end: int) -> bool:
    """RETURNS (bool): Whether there are no other words on the lines of a window: before it is at
    most the marker of a list item.
    """
    before = _next_content(doc, range(start - 1, -1, -1))
    if before is not None and _MARKER.fullmatch(doc[before].text):
        before = _next_content(doc, range(before - 1, -1, -1))
    after = _next_content(doc, range(end, len(doc)))
    return all(place is None or "\n" in doc[place].text for place in (before, after))


def _next_content(doc: Doc, places: Iterable[int]) -> int | None:
    """RETURNS (Optional[int]): The first of some tokens that has a letter, a digit or a line break;
    None if there is none.
    """
    texts = ((place, doc[place].text) for place in places)
    return next(
        (place for place, text in texts if "\n" in text or any(map(str.isalnum, text))), None
    )
