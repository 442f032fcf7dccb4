"""Replace short forms in mentions by their long forms."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

# Short forms inside a long form are replaced as long as it stays this short (characters).
_LONGEST = 300
_RUN = re.compile(r"[^\W_]+")
_CLOSING = re.compile(r"\s*[)\]]")


class Use(NamedTuple):
    """A use of a short form in a text.

    short (str): The short form, as it was defined.
    start (int): Its offset.
    end (int): Its end.
    """

    short: str
    start: int
    end: int


def expand(text: str, long_forms: Mapping[str, str]) -> str:
    """Replace the short forms in a text ("HNPCC syndrome", "AS/PWS") by their long forms, and the
    short forms in those. If both forms stand together ("Angelman syndrome (AS)"), only the long
    form is kept.

    text (str): A mention.
    long_forms (Mapping[str, str]): Long forms by short form. Case matters, a plural's s doesn't.
    RETURNS (str): The text. Each short form makes it longer by one long form or by a few hundred
        characters at most.
    """
    uses = list(find_uses(text, long_forms))
    unfolded = {short: _unfold(short, long_forms) for short in {use.short for use in uses}}
    return _replace(text, uses, unfolded)


def find_uses(text: str, shorts: Collection[str]) -> Iterator[Use]:
    """Find short forms in a text, as whole words: runs of letters and digits.

    text (str): Any text.
    shorts (Collection[str]): The short forms.
    YIELDS (Use): Without overlaps, in order; the longest if several start at one place.
    """
    if not shorts:
        return
    if text in shorts:
        yield Use(text, 0, len(text))
        return
    if not any(short.removesuffix("s") in text for short in shorts):
        return  # most mentions: much faster than word by word
    reach = max(map(len, shorts)) + 1
    runs = [run.span() for run in _RUN.finditer(text)]
    passed = 0
    for number, (start, _) in enumerate(runs):
        if start < passed:
            continue
        for end in _ends(runs, number, start + reach):
            short = _defined(text[start:end], shorts)
            if short is not None:
                yield Use(short, start, end)
                passed = end
                break


def _unfold(short: str, long_forms: Mapping[str, str]) -> str:
    text = long_forms[short]
    left = dict(long_forms)
    done = {short}
    while done and len(text) <= _LONGEST:
        for each in done:
            del left[each]
        uses = list(find_uses(text, left))
        longer = _replace(text, uses, left)
        if len(longer) <= _LONGEST:
            text = longer
        done = {use.short for use in uses}
    return text


def _ends(runs: list[tuple[int, int]], number: int, limit: int) -> list[int]:
    ends = []
    while number < len(runs) and runs[number][1] <= limit:
        ends.append(runs[number][1])
        number += 1
    return ends[::-1]


def _defined(word: str, shorts: Collection[str]) -> str | None:
    forms = [word]
    if word[-1:].isupper() or word[-1:].isdigit():
        forms.append(word + "s")
    elif word.endswith("s") and not word[-2:-1].islower():
        forms.append(word[:-1])
    return next((form for form in forms if form in shorts), None)


def _replace(text: str, uses: Iterable[Use], long_forms: Mapping[str, str]) -> str:
    folded = text.casefold()
    pieces: list[str] = []
    done = 0
    for use in uses:
        gap = text[done : use.start]
        long = long_forms[use.short]
        if long.casefold() in folded:
            kept, done = _beside(text, use, gap, long)
        else:
            kept, done = gap + _without_repetition(text, use, long), use.end
        pieces.append(kept)
    return "".join(pieces) + text[done:]


def _beside(text: str, use: Use, gap: str, long: str) -> tuple[str, int]:
    """Drop the short form if one of the two forms is in brackets after the other.

    text (str): A text that contains the long form.
    use (Use): The short form.
    gap (str): The text before it that is not handled yet.
    long (str): The long form.
    RETURNS (Tuple[str, int]): The replacement for the gap and the short form, and the offset in
        the text where it ends.
    """
    behind = re.compile(rf"\s*[(\[]\s*({re.escape(long)})\s*[)\]]", re.IGNORECASE)
    long_form = behind.match(text, use.end)
    if long_form:
        return gap + long_form[1], long_form.end()
    before = gap.rstrip()
    closing = _CLOSING.match(text, use.end)
    if before.endswith(("(", "[")) and closing:
        return before[:-1].rstrip(), closing.end()
    return gap + text[use.start : use.end], use.end


def _without_repetition(text: str, use: Use, long: str) -> str:
    """RETURNS (str): A long form without words that the text around it repeats: "von Hippel-Lindau"
    for "VHL" in "VHL disease" if the long form is "von Hippel-Lindau disease".
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
    """RETURNS (int): How many of the last words are repeated by the first of the following."""
    words, following = (
        [word.casefold().rstrip("s") for word in each] for each in (words, following)
    )
    fits = (
        count
        for count in range(min(len(words), len(following)), 0, -1)
        if words[-count:] == following[:count]
    )
    return next(fits, 0)
