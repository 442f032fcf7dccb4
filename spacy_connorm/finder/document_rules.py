"""Rules by the other windows of a document, after all rules for single windows."""

from collections.abc import Iterable

from ..text.words import Words
from .known_names import KnownName
from .place_rules import OTHER_WORD
from .window import Window

# Shorter texts have no room for long forms, in tokens.
_SHORT_TEXT = 100


def cuts_name(window: Window) -> bool:
    """Check for a window that cuts the last word off a name and has it elsewhere in its own: a
    Wilms tumor of the left kidney is not a renal tumor, nor are stem cells in the bone marrow bone
    marrow cells.
    """
    if window.start not in window.place.heads:
        return False
    classes = window.context.words.classes
    joints = classes.prepositions | classes.copulas
    tokens = window.doc[window.start : window.end]
    is_joined = any(token.lower_ in joints for token in tokens[1:])
    return is_joined and not _starts_alike(tokens[0].text, window.known, window.context.words)


def _starts_alike(word: str, names: Iterable[KnownName], words: Words) -> bool:
    first = words.content(word)[:1]
    return any(words.content(name.text)[:1] == first for name in names)


def is_part_of_refused(window: Window) -> bool:
    """Check for a window inside one that the word after it gives another meaning: there is no
    hepatitis in a hepatitis B vaccine.
    """
    return window.end <= window.place.ends_of(OTHER_WORD).get(window.start, 0)


def is_everyday_word(window: Window) -> bool:
    """Check for a capitalized name that the document mostly has as an everyday word: in one with
    "unpublished data", "Data" is not a genus; KIT stays a gene beside a "kit".
    """
    if not window.context.match_capitals or not window.is_name:
        return False
    name, counts = window.name, window.place.counts
    plain = counts[name.lower()]
    return (
        not name.isupper()
        and 0 < plain >= counts[name]
        and not any(known.text.islower() for known in window.known)
    )


def is_undefined(window: Window) -> bool:
    """Check for a short form that the document does not define."""
    context = window.context
    if context.undefined_short_forms or not window.is_name or len(window.doc) < _SHORT_TEXT:
        return False
    return context.long_forms.is_undefined(window.place.words, window.name, window.known)
