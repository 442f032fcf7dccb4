"""Brackets of a text, and the passages in and before them."""

import re
from typing import NamedTuple

_CLOSING = {"(": ")", "[": "]"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_BRACKET = re.compile(r"[()\[\]]")
# Possible ends of a sentence, and brackets.
_BORDER = re.compile(r"[()\[\].!?;:\n]")
# How many characters are read on either side of a bracket: over fifteen long words.
_REACH = 250


class Passage(NamedTuple):
    """A piece of a text. Inner brackets are blanked out, so that offsets stay valid.

    start (int): The offset of its first character in the text.
    text (str): Its characters.
    """

    start: int
    text: str


def match_brackets(text: str) -> dict[int, int]:
    """Match opening and closing brackets, round and square ones separately.

    text (str): Any text; unmatched brackets are ignored.
    RETURNS (Dict[int, int]): The offset of the closing bracket by that of the opening one, in the
        order of the closing ones.
    """
    pairs: dict[int, int] = {}
    waiting: dict[str, list[int]] = {opening: [] for opening in _CLOSING}
    for bracket in _BRACKET.finditer(text):
        character = bracket[0]
        if character in _CLOSING:
            waiting[character].append(bracket.start())
        elif waiting[_OPENING[character]]:
            pairs[waiting[_OPENING[character]].pop()] = bracket.start()
    return pairs


def read_inside(text: str, opening: int, pairs: dict[int, int]) -> Passage:
    """RETURNS (Passage): The text (or its beginning) in the bracket that opens at the offset."""
    start = opening + 1
    end = min(pairs[opening], start + _REACH)
    characters = list(text[start:end])
    if not _CLOSING.keys() & characters:
        return Passage(start, text[start:end])
    at = start
    while at < end:
        closing = pairs.get(at)
        if closing is not None and _stands_apart(text, at):
            last = min(closing + 1, end)
            characters[at - start : last - start] = " " * (last - at)
            at = last
        else:
            at += 1
    return Passage(start, "".join(characters))


def read_before(text: str, end: int, openings: dict[int, int]) -> Passage:
    """Read the text before a bracket, back to the start of the sentence, to an enclosing bracket or
    to an unmatched one.

    text (str): The text.
    end (int): The offset where the passage ends.
    openings (Dict[int, int]): The offset of the opening bracket by that of the closing one.
    RETURNS (Passage): The passage.
    """
    first = max(0, end - _REACH)
    characters = list(text[first:end])
    start, passed = first, end
    for border in reversed([each.start() for each in _BORDER.finditer(text, first, end)]):
        if border >= passed:
            continue
        opening = openings.get(border, -1)
        if opening >= first:
            if _stands_apart(text, opening):
                characters[opening - first : border + 1 - first] = " " * (border + 1 - opening)
            passed = opening
        elif _BRACKET.match(text, border) or _ends_sentence(text, border):
            start = border + 1
            break
    return Passage(start, "".join(characters[start - first :]))


def _stands_apart(text: str, opening: int) -> bool:
    # Other brackets are part of a name: "poly(ADP-ribose) polymerase".
    return opening == 0 or text[opening - 1].isspace()


def _ends_sentence(text: str, at: int) -> bool:
    if not text[at + 1 : at + 2].isspace():
        return False
    if text[at] == "\n":
        return text.startswith(("\n", "\r\n"), at + 1)
    if text[at] in ".!?":
        # Short words with a full stop are abbreviations: "St. Louis", "vs. placebo".
        word = text[max(0, at - 3) : at]
        return word[-1:].isdigit() or (len(word) == 3 and word.isalpha() and word.islower())
    return text[at] in ";:"
