"""Short forms with a number: "CKD3", "CKD 3", "DM II"."""

import re
from collections.abc import Collection, Mapping
from functools import cache

from ..lang import any_of
from .expansion import Use
from .short_forms import NUMBER
from .statements import begins_item
from .words import Words, words_of

# "I" is a word.
_NUMBERS = {"1": "1", "2": "II", "3": "III", "3a": "IIIa", "3b": "IIIb", "4": "IV", "5": "V"}
_WRITTEN = {*_NUMBERS, *_NUMBERS.values()}
_LAST_WORD = re.compile(r"([^\W\d_]{1,12})\s\Z")
_LONGEST_WORD = 12
_ENDS_OF_MARKERS = (". ", ") ")
_LONGEST_MARKER = 6
# In characters, so that the time is linear in the length of a text without line breaks.
_LONGEST_LINE = 1000


class NumberedForms:
    """Reads the numbers of short forms in one language. `numbered_forms_of` makes one for each."""

    def __init__(self, words: Words) -> None:
        """Compile the words after numbers.

        words (Words): Reads the words of the language.
        """
        classes = words.language.short_forms
        self._numbered = words.classes.numbered
        self._counted = sorted(words.language.finder.counted_kinds)
        stop_words, endings = any_of(words.classes.stop_words), any_of(classes.no_noun_endings)
        # What follows "CKD 3", but not "AF 3 days".
        self._whole_after = re.compile(
            rf"[.,;:)](?!\d)| ?(?:\n|\Z)| [(&]| (?:{stop_words}|[a-z]+{endings})\b"
        )

    def list_pairs(self, named: Mapping[str, Collection[str]]) -> list[tuple[str, str]]:
        """List short forms with a number, and what they may stand for: "CKD3" for "chronic kidney
        disease stage 3".

        named (Mapping[str, Collection[str]]): Long forms by short form.
        RETURNS (List[Tuple[str, str]]): Short and long forms, sorted.
        """
        return sorted(
            {
                (f"{short}{written}", f"{long} {kind} {number}")
                for short, longs in named.items()
                if short[-1].isalpha()
                for long in longs
                for kind in self._counted
                for number, roman in _NUMBERS.items()
                for written in (number, f" {number}", f" {roman}")
            }
        )

    def is_number(self, text: str, use: Use) -> bool:
        """Check for a Roman number: "stage IV".

        text (str): The text.
        use (Use): A use of a short form.
        RETURNS (bool): True for one after a word such as "stage".
        """
        if not NUMBER.fullmatch(use.short):
            return False
        before = _LAST_WORD.search(text, max(0, use.start - _LONGEST_WORD), use.start)
        return before is not None and before[1].lower() in self._numbered

    def without_count(self, text: str, use: Use, table: Collection[str]) -> Use:
        """Leave the number off a use of "CKD 3" that counts what follows, or items: "1. CKD 2.
        HTN".

        text (str): The text.
        use (Use): A use of a short form.
        table (Collection[str]): All short forms.
        RETURNS (Use): The use, perhaps without its number.
        """
        short, _, number = use.short.partition(" ")
        if number not in _WRITTEN or short not in table:
            return use
        first = max(0, use.start - _LONGEST_LINE)
        first = max(first, text.rfind("\n", first, use.start) + 1)
        ends_marker = text.startswith(_ENDS_OF_MARKERS, use.end)
        # An item of a list in one line, unless another one follows: "2. AKI on CKD 3. 3. Gout".
        after, space, _ = text[use.end + 2 : use.end + 2 + _LONGEST_MARKER].partition(" ")
        is_number = not ends_marker or (space and begins_item(after))
        is_item = not is_number and any(map(begins_item, text[first : use.start].split()))
        is_whole = self._whole_after.match(text, use.end) and not is_item
        return use if is_whole else Use(short, use.start, use.start + len(short))


@cache
def numbered_forms_of(code: str) -> NumberedForms:
    """Get what reads the numbers of short forms in a language.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (NumberedForms): The same object for the same language.
    """
    return NumberedForms(words_of(code))
