"""Named steps that bring different ways to write a name together (`normalization` in the config).

They run after `text/cleaning.py` on what is encoded; what is shown keeps its form.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ..errors import ConnormError, Errors
from .characters import drop_punctuation, unify_dashes, unify_unicode
from .greek import spell_greek
from .inversions import turn_inversion
from .numerals import write_arabic
from .plurals import drop_plurals
from .spelling import write_american
from .tags import strip_tags

Step = Callable[[str], str]

_POSSESSIVE = re.compile(r"(?:(?<=\w)'s)+'*(?![\w'])|(?<=s)'+(?![\w'])", re.IGNORECASE)


def drop_possessives(text: str) -> str:
    """Write eponyms without their genitive: "Crohn's disease" becomes "Crohn disease".

    text (str): A cleaned text, its apostrophes straight (step "unicode").
    RETURNS (str): The text.
    """
    return _POSSESSIVE.sub("", text) if "'" in text else text


def sort_words(text: str) -> str:
    """Put the words in alphabetical order, for lexical comparison.

    text (str): A cleaned text.
    RETURNS (str): The same words, sorted without regard to case first.
    """
    return " ".join(sorted(text.split(), key=lambda word: (word.lower(), word)))


def _guarded(change: Step) -> Step:
    """Keep a step from leaving stray spaces or nothing at all.

    change (Callable[[str], str]): A change of a text.
    RETURNS (Callable[[str], str]): The change, undone where it would leave an empty text.
    """

    def step(text: str) -> str:
        changed = change(text)
        return text if changed is text else " ".join(changed.split()) or text

    return step


# In the order that is recommended: what a step looks for (commas, apostrophes, capitals) is still
# there when it runs.
STEPS: Mapping[str, Step] = MappingProxyType(
    {
        "unicode": _guarded(unify_unicode),
        "dashes": _guarded(unify_dashes),
        "greek": _guarded(spell_greek),
        "tags": _guarded(strip_tags),
        "inversions": _guarded(turn_inversion),
        "possessives": _guarded(drop_possessives),
        "numerals": _guarded(write_arabic),
        "plurals": _guarded(drop_plurals),
        "spelling": _guarded(write_american),
        "punctuation": _guarded(drop_punctuation),
        "case": _guarded(str.lower),
        "word_order": _guarded(sort_words),
    }
)


def compose(steps: Sequence[str]) -> Step:
    """Make one function of steps, in the order they are named.

    steps (Sequence[str]): Names in `STEPS`, each at most once.
    RETURNS (Callable[[str], str]): From a cleaned text to the normalized one; never empty for a
        text that is not.
    RAISES (ConnormError): A name is unknown or named twice.
    """
    _check(steps)
    functions = tuple(STEPS[name] for name in steps)

    def normalize(text: str) -> str:
        for function in functions:
            text = function(text)
        return text

    return normalize


def _check(steps: Iterable[str]) -> None:
    seen: list[str] = []
    for name in steps:
        if name in seen or name not in tuple(STEPS):
            raise ConnormError(Errors.CN920.format(step=name, known=", ".join(STEPS)))
        seen.append(name)
