"""Finds what says that a finding is a relative's if other words stand between the relative and the
verb, or in "in a cousin": "her brother, aged 12, has epilepsy", "mother is known to have asthma".
"""

import re
from collections.abc import Iterable, Sequence

from spacy.tokens import Doc

from .assertion_terms import ALL_KIN

# The hash of a match's kind, its first token and the token after it.
_Match = tuple[int, int, int]

_KIN = rf"\b(?:{'|'.join(ALL_KIN)})\b"
# "Mother, who smokes," and "brother (12 y)", but not the start of a list: "mother, fever, cough".
_IN_ASIDE = (
    r"(?:\s?,\s(?:aged?|an?|born|now|who|whose|\d+)\b[^,.;:()]{0,40}(?=,)"
    r"|\s?\([^().;:]{1,40}(?=\)))"
)
_ASIDE = rf"(?:{_IN_ASIDE}[,)])"
_ADVERB = r"(?:[a-z]{2,12}ly|all|also|both|later|never|not|now|once|since|still|then)"
# "Is also known to", "has recently been", "does not".
_AUXILIARY = r"""
am|are|be|been|believed|can|could|did|do|does|found|had|has|have|is|known|may|might|must|reported
|said|thought|to|was|were
""".replace("\n", "")
# What a relative has, says or does, and no finding: "has noticed fever", "has been worried".
_NO_HAVING = r"""
asked|been|brought|called|concerns?|described|expressed|felt|found|given|heard|mentioned|noted
|noticed|observed|questions?|recorded|reported|said|seen|stated|taken|to|told|tried|worries
""".replace("\n", "")
_WHEN = r"""
about|aged?|around|at|childhood|days?|early|her|his|in|infancy|late|months?|of|old|suddenly|the
|their|weeks?|years?|young|\d+\w{0,2}
""".replace("\n", "")
_HAVING = (
    rf"(?:(?:had|has|have)\b(?!\s(?:{_ADVERB}\s)?(?:{_NO_HAVING})\b)"
    r"|(?:affected by|born with|carries|developed|diagnosed with|suffered from|suffers from"
    r"|treated for)\b"
    rf"|(?:died|passed away)(?:\s(?:{_WHEN})\b){{0,6}}\s(?:from|of|with)\b(?!\s\d))"
)
_HAS = re.compile(
    rf"{_KIN}{_ASIDE}?(?:,?\swho\b)?(?:\s(?:{_AUXILIARY}|{_ADVERB})\b){{0,6}}\s(?P<has>{_HAVING})",
    re.IGNORECASE,
)
# "Brother (12 y): asthma", "brother, aged 12, with asthma".
_LISTED = re.compile(rf"{_KIN}{_IN_ASIDE}(?P<has>[,)]\s?(?:[:\u2013-]|with\b|w/))", re.IGNORECASE)
# "Here with mother, aged 40, has a cough" is about the patient.
_NO_SUBJECT = re.compile(
    r"(?:\b(?:by|for|from|per|to|via|with)|\bw/)\s(?:[a-z]{1,8}\s){0,2}\Z", re.IGNORECASE
)
_OF_KIN = r"""
affected|an?|another|both|deceased|distant|elder|eldest|first|four|full|great|half|her|his|identical
|maternal|my|older|one|other|our|paternal|second|several|the|their|three|twin|two|younger|youngest
|\d
""".replace("\n", "")
_IN = re.compile(
    rf"\bin\s(?:(?:{_OF_KIN})[\s-]){{0,3}}(?:{_KIN}['\u2019]s?\s)?{_KIN}(?!['\u2019])",
    re.IGNORECASE,
)
# In characters.
_BEFORE = 25


def find_having(doc: Doc, starts: Sequence[int]) -> list[_Match]:
    """Find the verbs behind a relative and words that do not change the subject: an aside, adverbs
    and auxiliaries; and the colon, dash or "with" behind an aside.

    doc (Doc): The document.
    starts (Sequence[int]): The first token of each of its statements.
    RETURNS (List[Tuple[int, int, int]]): Matches of the verbs, in order; their kind is 0.
    """
    text, borders = doc.text, {doc[start].idx for start in starts}
    places = []
    for match in (each for pattern in (_HAS, _LISTED) for each in pattern.finditer(text)):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        inside = range(match.start() + 1, match.end())
        if _NO_SUBJECT.search(before) is None and borders.isdisjoint(inside):
            places.append(match.span("has"))
    return _matches(doc, places)


def find_in_kin(doc: Doc) -> list[_Match]:
    """Find what a finding has right behind it if it is a relative's: "in a cousin".

    doc (Doc): The document.
    RETURNS (List[Tuple[int, int, int]]): Matches, in order; their kind is 0.
    """
    return _matches(doc, (match.span() for match in _IN.finditer(doc.text)))


def _matches(doc: Doc, places: Iterable[tuple[int, int]]) -> list[_Match]:
    spans = (doc.char_span(*place, alignment_mode="expand") for place in places)
    return sorted((0, span.start, span.end) for span in spans if span is not None)
