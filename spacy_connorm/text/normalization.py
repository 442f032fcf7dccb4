"""Named steps that unify spellings of a name (`normalization` in the config).

They run after `text/cleaning.py` and only on what is encoded; texts are shown as written.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ..errors import refuse, require_choice
from .characters import drop_punctuation, spell_greek, unify_dashes, unify_unicode
from .numerals import write_arabic
from .plurals import drop_plurals
from .spelling import write_american
from .tags import strip_tags, turn_inversion

TextStep = Callable[[str], str]

# A chain of possessives is matched only from its start: matching it from each of them would take
# quadratic time.
_POSSESSIVE = re.compile(r"(?<!\w's)(?:(?<=\w)'s)+'*(?![\w'])|(?<=s)'+(?![\w'])", re.IGNORECASE)


def drop_possessives(text: str) -> str:
    """Remove the possessive of eponyms: "Crohn's disease" becomes "Crohn disease".

    text (str): A cleaned text with straight apostrophes (step "unicode").
    RETURNS (str): The text.
    """
    return _POSSESSIVE.sub("", text) if "'" in text else text


def sort_words(text: str) -> str:
    """Sort the words alphabetically, for lexical comparison.

    text (str): A cleaned text.
    RETURNS (str): The same words, sorted first without case, then with it.
    """
    return " ".join(sorted(text.split(), key=lambda word: (word.lower(), word)))


def _guarded(change: TextStep) -> TextStep:
    """Keep a step from leaving stray spaces or an empty text.

    change (Callable[[str], str]): A change of a text.
    RETURNS (Callable[[str], str]): The change, undone if it would leave an empty text.
    """

    def step(text: str) -> str:
        changed = change(text)
        return text if changed is text else " ".join(changed.split()) or text

    return step


# In the recommended order: what a step needs (commas, apostrophes, capitals) is still there when it
# runs.
STEPS: Mapping[str, TextStep] = MappingProxyType(
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


def compose(steps: Sequence[str]) -> TextStep:
    """Combine steps into one function, in the order given.

    steps (Sequence[str]): Names in `STEPS`, each at most once.
    RETURNS (Callable[[str], str]): From a cleaned text to the normalized one, which is never empty
        unless the text is.
    RAISES (ConnormError): CN118 for an unknown name, CN006 for a repeated one.
    """
    _check(steps)
    functions = tuple(STEPS[name] for name in steps)

    def normalize(text: str) -> str:
        for function in functions:
            text = function(text)
        return text

    return normalize


def _check(steps: Sequence[str]) -> None:
    for name in steps:
        require_choice("normalization", name, tuple(STEPS))
    if len(set(steps)) < len(steps):
        refuse("normalization", list(steps), "a list with each step once")
