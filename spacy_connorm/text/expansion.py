"""Replace short forms in mentions by their long forms."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from .short_forms import drop_plural

# In characters: longer texts are not expanded, longer short forms are found only as a whole text.
_LONGEST_TEXT = 5_000
_LONGEST_SHORT = 100
# Short forms inside a long form are replaced as long as it stays this short (characters), and this
# often: long forms may contain short forms again.
_LONGEST = 300
_MOST_ROUNDS = 10
# The maximum number of words that a long form and the text beside it share.
_MOST_SHARED_WORDS = 50
_RUN = re.compile(r"[^\W_]+")
# "MPP+", "MPP+-treated", "NAD(+)", "2°", but not "SS-like"
_SIGN = re.compile(r"(?:\([+-]\)|[+°-])(?!\w)")
_SIGNS = ("+", "-", "+)", "-)", "°")


class Use(NamedTuple):
    """A use of a short form in a text.

    short (str): The short form, as it was defined.
    start (int): Its offset.
    end (int): Its end.
    """

    short: str
    start: int
    end: int


class ShortForms:
    """Finds short forms in texts, in a time that does not depend on the number of short forms."""

    def __init__(self, shorts: Iterable[str]) -> None:
        """Index the short forms.

        shorts (Iterable[str]): The short forms.
        """
        self._shorts = frozenset(shorts)
        # The longest short form that starts with a word.
        self._reach: dict[str, int] = {}
        for short in self._shorts:
            first = _RUN.search(short)
            if first is None or len(short) > _LONGEST_SHORT:
                continue
            for word in (first[0], first[0].removesuffix("s"), first[0] + "s"):
                self._reach[word] = max(self._reach.get(word, 0), len(short) + 1)
        self._has_signs = any(short.endswith(_SIGNS) for short in self._shorts)

    def find(self, text: str, without: Collection[str] = ()) -> Iterator[Use]:
        """Find short forms in a text, as whole words, that is, runs of letters and digits, perhaps
        with a sign after them.

        text (str): Any text.
        without (Collection[str]): Short forms to ignore.
        YIELDS (Use): Without overlaps, in order; the longest if several start at the same place.
        """
        if text in self._shorts and text not in without:
            yield Use(text, 0, len(text))
            return
        if self._reach.keys().isdisjoint(_RUN.findall(text)):
            return  # for most mentions
        runs = [run.span() for run in _RUN.finditer(text)]
        passed = 0
        for number, (start, end) in enumerate(runs):
            reach = self._reach.get(text[start:end], 0)
            if start < passed or not reach:
                continue
            for end in self._ends(text, runs, number, start + reach):
                short = self._read(text[start:end], without)
                if short is not None:
                    yield Use(short, start, end)
                    passed = end
                    break

    def _ends(
        self, text: str, runs: list[tuple[int, int]], number: int, limit: int
    ) -> Iterator[int]:
        """YIELDS (int): Where a short form that begins with a run may end, the last place first."""
        last = bisect_right(runs, limit, number, key=itemgetter(1))
        for _, end in reversed(runs[number:last]):
            if self._has_signs and (sign := _SIGN.match(text, end)):
                yield sign.end()
            yield end

    def _read(self, word: str, without: Collection[str]) -> str | None:
        forms = [word]
        if word[-1:].isupper() or word[-1:].isdigit():
            forms.append(word + "s")
        else:
            forms.append(drop_plural(word))
        return next((form for form in forms if form in self._shorts and form not in without), None)


def expand(text: str, long_forms: Mapping[str, str], shorts: ShortForms | None = None) -> str:
    """Replace the short forms in a text ("HNPCC syndrome", "AS/PWS") by their long forms, and the
    short forms in those. If both forms are beside each other ("Angelman syndrome (AS)"), only the
    long form is kept.

    text (str): A mention. If it has more than 5,000 characters, it is returned unchanged.
    long_forms (Mapping[str, str]): Long forms by short form. Case matters, the "s" of a plural does
        not.
    shorts (Optional[ShortForms]): The keys of `long_forms`, to expand many texts quickly.
    RETURNS (str): The text. Each short form makes it longer by one long form or by a few hundred
        characters at most.
    """
    if len(text) > _LONGEST_TEXT:
        return text
    shorts = shorts or ShortForms(long_forms)
    uses = list(shorts.find(text))
    used = {use.short for use in uses}
    return _replace(text, uses, {short: _unfold(short, long_forms, shorts) for short in used})


def _unfold(short: str, long_forms: Mapping[str, str], shorts: ShortForms) -> str:
    text = long_forms[short]
    done = {short}
    for _ in range(_MOST_ROUNDS):
        if len(text) > _LONGEST:
            break
        uses = list(shorts.find(text, without=done))
        if not uses:
            break
        longer = _replace(text, uses, long_forms)
        if len(longer) <= _LONGEST:
            text = longer
        done.update(use.short for use in uses)
    return text


def _replace(text: str, uses: Sequence[Use], long_forms: Mapping[str, str]) -> str:
    folded = text.casefold()
    shorts = {use.short for use in uses}
    contained = {short for short in shorts if long_forms[short].casefold() in folded}
    pieces: list[str] = []
    done = 0
    for use in uses:
        gap = text[done : use.start]
        long = long_forms[use.short]
        if use.short in contained:
            piece, done = _beside(text, use, gap, long)
        else:
            piece, done = gap + _without_repetition(text, use, long), use.end
        pieces.append(piece)
    return "".join(pieces) + text[done:]


def _beside(text: str, use: Use, gap: str, long: str) -> tuple[str, int]:
    """Drop the short form if one of the two forms is in brackets after the other.

    text (str): A text that contains the long form.
    use (Use): The short form.
    gap (str): The text before it that has not been processed.
    long (str): The long form.
    RETURNS (Tuple[str, int]): The replacement for the gap and the short form, and the offset in
        the text where it ends.
    """
    after = text[use.end :].lstrip()
    if after.startswith(("(", "[")):
        inside = after[1:].lstrip()
        written, rest = inside[: len(long)], inside[len(long) :].lstrip()
        if written.lower() == long.lower() and rest.startswith((")", "]")):
            return gap + written, len(text) - len(rest) + 1
    before = gap.rstrip()
    if before.endswith(("(", "[")) and after.startswith((")", "]")):
        return before[:-1].rstrip(), len(text) - len(after) + 1
    return gap + text[use.start : use.end], use.end


def _without_repetition(text: str, use: Use, long: str) -> str:
    """Drop words of a long form that the text around it repeats: "von Hippel-Lindau" for "VHL" in
    "VHL disease" if the long form is "von Hippel-Lindau disease".

    RETURNS (str): The long form without these words.
    """
    words = long.split()
    reach = len(long) + 1
    behind = text[use.end : use.end + reach]
    shared = _overlap(words, behind.split()) if behind[:1].isspace() else 0
    words = words[: len(words) - shared]
    front = text[max(0, use.start - reach) : use.start]
    shared = _overlap(front.split(), words) if front[-1:].isspace() else 0
    return " ".join(words[shared:])


def _overlap(words: list[str], following: list[str]) -> int:
    """Count how many of the last words are repeated by the first of the following."""
    words, following = (
        [word.casefold().rstrip("s") for word in side] for side in (words, following)
    )
    most = min(len(words), len(following), _MOST_SHARED_WORDS)
    fits = (count for count in range(most, 0, -1) if words[-count:] == following[:count])
    return next(fits, 0)
