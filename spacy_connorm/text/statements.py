"""Find where the statements of a note begin: sentences, but also list items and headings."""

from collections.abc import Sequence
from string import punctuation

from ..lang import AssertionClasses

_ENDS = frozenset(".!?")
# Lists have fewer items than a hundred.
_LONGEST_NUMBER = 2
_BULLETS = frozenset("•▪◦")
# The most tokens of a bracket.
_BRACKET = 10


def is_item_number(text: str) -> bool:
    """Check for the number of a list item: "1.", "(12)", "3".

    text (str): A word with its signs.
    RETURNS (bool): True if it is one.
    """
    number = text.strip(punctuation)
    return number.isdecimal() and len(number) <= _LONGEST_NUMBER


def begins_item(text: str) -> bool:
    """Check for the number of a list item and a sign after it: "1.", "(12)".

    text (str): A word with its signs.
    RETURNS (bool): True if it is one.
    """
    return text.endswith((".", ")")) and is_item_number(text)


def find_statements(words: Sequence[str], classes: AssertionClasses) -> list[int]:
    """Find the words that begin a statement. A statement ends with its sentence, with an empty
    line, with a line if the next one does not continue in lower case, and before the heading of a
    part of an examination, and in a list that it begins with, before each item: "1) fever 2) no
    cough".

    words (Sequence[str]): The words and signs of a text; white space with a line break is a word,
        too.
    classes (AssertionClasses): The headings of the language, and what ends lines that continue.
    RETURNS (List[int]): Their numbers, in order; 0 is the first, if there are any.
    """
    starts = [0] if words else []
    # "Denies: 1) fever 2) cough" is one statement.
    is_list = bool(words) and _begins_listed(words, 0)
    for number, word in enumerate(words[1:], start=1):
        before, earlier = words[number - 1], words[max(0, number - 2) : number - 1]
        if (
            # The tokenizer takes "on d/c." for "d", "/" and "c."
            (before.endswith(".") and earlier == ["/"])
            or (before in _ENDS and not _belongs_to_word(before, earlier, word, classes))
            or _is_line_end(before, earlier, word, classes)
            or (words[number + 1 : number + 2] == [":"] and word.lower() in classes.exam_headings)
        ):
            starts.append(number)
            is_list = _begins_listed(words, number)
        elif is_list and _begins_listed(words, number):
            starts.append(number)
    return starts


def _belongs_to_word(
    sign: str, before: Sequence[str], word: str, classes: AssertionClasses
) -> bool:
    """Check whether a full stop belongs to an abbreviation, or to a name such as "E. coli"."""
    if sign != ".":
        return False
    is_letter = any(len(earlier) == 1 and earlier.isupper() for earlier in before)
    is_short = any(earlier.lower() in classes.abbreviations for earlier in before)
    return is_short or (is_letter and word[:1].islower())


def _is_line_end(
    white_space: str, before: Sequence[str], word: str, classes: AssertionClasses
) -> bool:
    if "\n" not in white_space:
        return False
    if white_space.count("\n") > 1:
        return True
    is_continued = any(
        earlier.endswith(",") or earlier.lower() in classes.continuing for earlier in before
    )
    return not (word[:1].islower() or is_continued)


def _begins_listed(words: Sequence[str], number: int) -> bool:
    """Check for a bullet, or a number with a bracket that was not opened."""
    if words[number] in _BULLETS:
        return True
    if words[number + 1 : number + 2] != [")"] or not is_item_number(words[number]):
        return False
    before = words[max(0, number - _BRACKET) : number]
    return next((word for word in reversed(before) if word in "()"), ")") == ")"
