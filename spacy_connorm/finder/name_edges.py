"""Tokens at the edges of names: "in" of "in situ carcinoma", the bracket after "edema (hand)", the
plus of "Ca2+". Windows of `name_windows` begin and end with content words.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ..documents.token_texts import DocumentTokens
from ..text.statements import is_item_number
from ..text.words import Words

# After the items of a list on one line.
_STOP = "."
_ITEM_ENDS = frozenset([";", "|"])
_BRACKETS = (("(", ")"), ("[", "]"))
# At the end of a name: "CD4+", "Ca(2+)". spaCy makes them separate tokens.
_SIGNS = ("+", "-", "+)", "-)")


class Edge(NamedTuple):
    """A name that begins or ends with function words, or ends with a sign.

    before (int): The number of function words at its beginning.
    after (int): The number of function words, or of the sign's tokens, at its end.
    words (List[str]): All its words.
    sign (str): The sign that it ends with, if any: "+", "+)".
    """

    before: int
    after: int
    words: list[str]
    sign: str = ""


def edges_of(names: Iterable[str], reader: Words) -> tuple[Edge, ...]:
    """Find the names that begin or end with function words, or end with a sign.

    names (Iterable[str]): The names.
    reader (Words): Reads the words of their language.
    RETURNS (Tuple[Edge, ...]): These names.
    """
    return tuple(edge for name in names for edge in _edges(name, reader))


def _edges(name: str, reader: Words) -> Iterator[Edge]:
    words = reader.normalized(name)
    sign = next(filter(name.endswith, _SIGNS), "")
    if name.removesuffix(sign)[-1:].isalnum():
        # The tokenizer may have left part of it attached to the word.
        yield from (Edge(0, size, words, sign) for size in range(1, len(sign) + 1))
    small = reader.classes.function_words
    before, after = _count_small(words, small), _count_small(words[::-1], small)
    if 0 < before + after < len(words):
        yield Edge(before, after, words)


def _count_small(words: Sequence[str], small: Collection[str]) -> int:
    return sum(1 for _ in takewhile(small.__contains__, words))


def widen(
    tokens: DocumentTokens,
    start: int,
    end: int,
    edges: Sequence[Edge],
    reader: Words,
) -> tuple[int, int]:
    """Extend a window by the function words or the sign that a name has beside it, or by the other
    bracket of a pair.

    tokens (DocumentTokens): The tokens of a document.
    start (int): The first token of the window.
    end (int): The token after it.
    edges (Sequence[Edge]): The edges of the names that have its words.
    reader (Words): Reads the words of their language.
    RETURNS (Tuple[int, int]): The start and the end of the extended window.
    """
    texts = tokens.texts
    for edge in edges:
        first, last = max(0, start - edge.before), min(len(texts), end + edge.after)
        text = tokens.part(first, last)
        if text.endswith(edge.sign) and reader.normalized(text) == edge.words:
            return first, last
    before, after = texts[start - 1] if start else "", texts[end] if end < len(texts) else ""
    for opening, closing in _BRACKETS:
        if before == opening or after == closing:
            text = tokens.part(start, end)
            missing = text.count(opening) - text.count(closing)
            start -= missing < 0 and before == opening
            end += missing > 0 and after == closing
    return start, end


def stands_alone(texts: Sequence[str], start: int, end: int) -> bool:
    """Check whether a window has its lines to itself, apart from the marker of a list item before
    it, its place between semicolons or bars, "EYES: Cataracts, congenital; Ptosis", its brackets,
    "umbilical hernia (Hernia, umbilical)", or its full stop and that of the sentence before it.

    texts (Sequence[str]): The tokens of a document.
    start (int): The first token of the window.
    end (int): The token after it.
    RETURNS (bool): True if its comma is that of a name.
    """
    if start and end < len(texts) and (texts[start - 1], texts[end]) in _BRACKETS:
        return True
    if texts[end : end + 1] == [_STOP] and (not start or texts[start - 1] == _STOP):
        return True
    before = _next_content(texts, range(start - 1, -1, -1))
    if before is not None and is_item_number(texts[before]):
        before = _next_content(texts, range(before - 1, -1, -1))
    after = _next_content(texts, range(end, len(texts)))
    borders = ["\n" if place is None else texts[place] for place in (before, after)]
    if start and texts[start - 1] == ":" and borders[1] in _ITEM_ENDS:
        return True
    return all("\n" in text or text in _ITEM_ENDS for text in borders)


def _next_content(texts: Sequence[str], places: Iterable[int]) -> int | None:
    """Find the first of some tokens that has a letter, a digit or a line break, or ends an item.

    RETURNS (Optional[int]): The token; None if there is none.
    """
    contents = (
        place
        for place in places
        if "\n" in texts[place] or texts[place] in _ITEM_ENDS or any(map(str.isalnum, texts[place]))
    )
    return next(contents, None)
