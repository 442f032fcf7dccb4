"""Rules by the other windows of a document, after all rules for single windows."""

from ..documents.abbreviations import read_abbreviations
from ..text.composites import shape
from .window import Window

# Shorter texts have no room for long forms, in tokens.
_SHORT_TEXT = 100


def is_part_of_other_name(window: Window) -> bool:
    """Check for a part of a name in the background vocabulary, before the name's head: "tumor" in
    "tumor necrosis factor", but not "fever" in "fever of unknown origin".
    """
    first, last = window.start, window.end
    return any(
        start <= first and last < end and last <= _head(window, start, end)
        for start, end in window.place.others
    )


def _head(window: Window, start: int, end: int) -> int:
    """Find the head of a name: its last word before a preposition or a conjunction, without a
    number of its kind: "diabetes type 2".
    """
    tokens, lowered, classes = window.tokens, window.lowered, window.context.words.classes
    borders = classes.prepositions | window.context.classes.listing_conjunctions
    place = start
    while place + 1 < end and lowered[place + 1] not in borders:
        place += 1
    while place > start and (not tokens[place].isalpha() or shape(tokens[place]) == "number"):
        place -= 1
    is_counted = place + 1 < end and lowered[place] in window.context.classes.counted_kinds
    return place - 1 if is_counted and place > start else place


def is_everyday_word(window: Window) -> bool:
    """Check for a capitalized name that the document mostly has as an everyday word: in one with
    "unpublished data", "Data" is not a genus; KIT stays a gene beside a "kit".
    """
    if not window.context.settings["match_capitals"] or not window.is_name:
        return False
    name, counts = window.name, window.place.counts
    plain = counts[name.lower()]
    return (
        not name.isupper()
        and 0 < plain >= counts[name]
        and not any(known.text.islower() for known in window.known)
    )


def is_undefined(window: Window) -> bool:
    """Check for a short form that a document of some length does not define, or defines as
    something else: "VHL" may be von Hippel-Lindau disease after "von Hippel-Lindau (VHL)". Longer
    ones, such as "SARS-CoV-2", need no definition: they rarely have two meanings.
    """
    context, doc = window.context, window.place.doc
    if not window.is_name or sum(map(str.isalnum, window.text)) > context.settings["short_letters"]:
        return False
    last = doc[window.end - 1]
    long_form = read_abbreviations(doc).long_form(window.text, last.idx + len(last) - 1)
    if long_form and not window.is_derived:
        return not context.long_forms.is_other_name(long_form, window.known)
    if context.settings["undefined_short_forms"] or len(doc) < _SHORT_TEXT:
        return False
    return context.long_forms.is_undefined(window.place.words, window.name, window.known)
