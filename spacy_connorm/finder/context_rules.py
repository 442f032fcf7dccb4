"""Rules for windows that have the words of a name, but are not mentions where they stand."""

import re

from spacy.tokens import Doc

from ..text.words import words_of

_EN = words_of("en")
FUNCTION_WORDS = _EN.classes.stop_words
HIGH = ("elevated", "high", "increased")
LOW = ("decreased", "low", "reduced")
PREPOSITIONS = _EN.classes.prepositions
lacks_noun = _EN.lacks_noun


# Why a window is not a mention.
MEASURE = "it ends with the number of a measure: 'long QT syndrome 3 (times)'"
IN_COMPOUND = "it is the end of a compound with another meaning"
OTHER_WORD = "the word after it gives it another meaning: 'lead to', 'fall precautions'"
OTHER_NAME = "the word before it makes it another finding: 'yellow fever'"
CUT = (
    "it ends with an adjective whose noun is after it: 'bud to the metanephric (mesenchyme)', "
    "'decreased visual (acuity)'"
)
PERSON = "it is the name of a person: 'Dr. Valerian'"
LABEL = "it numbers a figure or a table: 'Figure S1'"
ITEM = "it begins with the number of a list item"
_HYPHENS = frozenset(["-", "\u2010", "\u2011"])
# Prefixes that give words the opposite or another meaning.
_REVERSING = frozenset(["anti", "non", "pre", "pseudo", "un"])
# "E-cadherin" is another molecule than what a name calls cadherin; but isomers are the same, as are
# sides, and the "N" of "N-acetylcysteine" only says where its acetyl is.
_OTHER_KIND = re.compile("[A-CE-KM-QT-Z]")
_RADICAL = "yl"
# Before the name of a person. "MS" is a disease.
_TITLES = frozenset(["Dr", "Miss", "Mr", "Mrs", "Ms", "Prof", "Professor"])
# Words that mean something else before these: no metal leads to anything.
_OTHERS_BEFORE = {
    word: frozenset(after.split())
    for word, after in {
        "confused": "with",
        "face": "of",
        "fall": "risk",
        "lead": "to author candidate candidates ecg ecgs i ii iii optimization",
        "leads": "to",
        "lupus": "anticoagulant anticoagulants",
        "respect": "to",
        "scale": "bar bars",
        "shock": "wave waves",
    }.items()
}
# Fevers that are diseases of their own: "yellow fever" is more than a high temperature.
_OTHER_FEVERS = """
blackwater dengue familial glandular haemorrhagic hay hemorrhagic lassa mediterranean q rheumatic
scarlet spotted typhoid yellow
"""
_OTHERS_AFTER = {
    # A depressed ST segment, or bone marrow.
    "depression": frozenset(["marrow", "myocardial", "respiratory", "segment", "st"]),
    "fever": frozenset(_OTHER_FEVERS.split()),
    "hypertension": frozenset(["intracranial", "ocular", "portal", "pulmonary"]),
    "lupus": frozenset(["cutaneous", "discoid", "neonatal"]),
    "shock": frozenset(["electric", "electrical", "electroconvulsive", "heat", "osmotic"]),
}
_ABOUT_FINDINGS = """
action alert board bundle center centre chart clinic clinics diary education guideline guidelines
leaflet marker markers medication nurse pathway precautions prevention prophylaxis protocol review
screen screening serology service team unit vaccination vaccine vaccines warning
"""
_ABOUT = frozenset(_ABOUT_FINDINGS.split())
# "Nephrotic-range" names a kind, not the finding. Annotators often mark the seizure of
# "seizure-like".
_KINDS = frozenset(["range", "type"])
# A test of a disease in short: "HIT panel sent".
_PANELS = frozenset(["panel", "panels"])
# Names that are also adjectives: "retinal cells" have to do with the retina, not with the aldehyde;
# and adjectives that stand for findings of patients: "pale stools" are no pallor, "aggressive
# treatment" is no aggression, but "hypertensive crisis" is about hypertension.
_ALSO_ADJECTIVES = frozenset(["retinal"])
_OF_PATIENTS = re.compile(r"pale|[a-z]+(?<!tens)ive")
_PATIENTS = """
adult adults babies baby boy boys child children female females girl girls infant infants lady male
males man men patient patients woman women
"""
_PEOPLE = frozenset(_PATIENTS.split())
# Only of people a finding, shortly behind one of these; much else is depressed by something.
_MOODS = frozenset(["depressed"])
_SUBJECTS = _PEOPLE | {"feel", "feeling", "feels", "felt", "he", "i", "pt", "she", "they", "who"}
_AGE = re.compile(r"(?:\d{1,3})?[MF]")
_PREPOSITION = re.compile(rf"(?i)\b({'|'.join(sorted(PREPOSITIONS))})\b")
_AMOUNT = re.compile(rf"(?i)({'|'.join((*HIGH, *LOW))})\b")
# "S1", "3", "4b"
_NUMBER = re.compile(r"[A-Z]{0,2}\d{1,3}[A-Za-z]?")
_BETWEEN_NUMBERS = _HYPHENS | {".", ",", "&", "(", ")", "\u2013", "and", "to"}
_LABELLED = """
appendix data dataset datasets ext fig figs figure figures file files movie movies protocol
supplementary tab table tables tabs text video videos
"""
_NUMBERED = frozenset(_LABELLED.split())
_ITEM = re.compile(r"\d{1,2}[.)]\s?[^\W\d]")
_MEASURES = "cm day days g hours kg mcg mg ml mm months times weeks years"
_UNITS = frozenset(_MEASURES.split())


def context_reason(doc: Doc, start: int, end: int, text: str, *, is_certain: bool) -> str:
    """Explain why a window is not a mention where it stands.

    doc (Doc): The document.
    start (int): The first token of the window.
    end (int): The token after it.
    text (str): Its text. Most checks start with it, since reading tokens takes longer.
    is_certain (bool): Whether it has the words of the name itself.
    RETURNS (str): The reason; empty if it may be a mention.
    """
    if _ends_compound(doc, start, text, is_certain=is_certain):
        return IN_COMPOUND
    if _has_other_meaning(doc, end, text, is_certain=is_certain):
        return OTHER_WORD
    if start and text[0].isupper() and doc[start - 1].text.rstrip(".") in _TITLES:
        return PERSON
    if end - start == 1:
        others = _OTHERS_AFTER.get(text.lower())
        if others and start and doc[start - 1].lower_ in others:
            return OTHER_NAME
        return LABEL if _NUMBER.fullmatch(text) and _is_label(doc, start) else ""
    if text[-1].isdigit() and end < len(doc) and doc[end].lower_ in _UNITS:
        return MEASURE
    if _is_cut(doc, end, text):
        return CUT
    return ITEM if _ITEM.match(text) else ""


def _ends_compound(doc: Doc, start: int, text: str, *, is_certain: bool) -> bool:
    """Check whether a window begins with the last part of a compound: "febrile" in "non-febrile";
    "tooth disease" in "Charcot-Marie-Tooth disease", which would be a dental disorder; "cadherin"
    in "E-cadherin", but no "maze test" in "T-maze test", nor "ATPase" in "Na-K-ATPase".
    """
    if start < 2 or doc[start - 1].text not in _HYPHENS or doc[start - 1].whitespace_:
        return False
    before = doc[start - 2]
    is_single = " " not in text and (start < 3 or doc[start - 3].text not in _HYPHENS)
    is_kind = is_single and _OTHER_KIND.fullmatch(before.text) and _RADICAL not in text
    is_other = not is_certain or is_kind or before.lower_ in _REVERSING
    return bool(is_other) and not before.whitespace_


def _has_other_meaning(doc: Doc, end: int, text: str, *, is_certain: bool) -> bool:
    """Check for what is about a finding or only has its name ("fall precautions", "HIT panel",
    "nephrotic-range"), "lead" before "to", "confused" before "with", the chemical "retinal" before
    a noun, "pale" and "aggressive" before one that is no patient, and "depressed" without people.
    """
    after = doc[end].lower_ if end < len(doc) else ""
    if after in _PANELS and text.isupper():
        return True
    text = text.lower()
    if is_certain and text in _ALSO_ADJECTIVES:
        return _is_noun(doc, end)
    if not is_certain and text in _MOODS:
        return after not in _PEOPLE and (_is_noun(doc, end) or not _is_about_people(doc, end - 1))
    if not is_certain and _OF_PATIENTS.fullmatch(text):
        return _is_noun(doc, end) and after not in _PEOPLE
    if after in _HYPHENS and not doc[end].whitespace_ and end + 1 < len(doc):
        return doc[end + 1].lower_ in _KINDS
    return after in _ABOUT or after in _OTHERS_BEFORE.get(text, ())


def _is_cut(doc: Doc, end: int, text: str) -> bool:
    """Check whether a window with a preposition, or one that begins with an amount, ends with an
    adjective, and a noun follows.
    """
    is_phrase = _PREPOSITION.search(text) is not None or _AMOUNT.match(text) is not None
    return is_phrase and _is_noun(doc, end) and lacks_noun(doc[end - 1].lower_)


def _is_noun(doc: Doc, place: int) -> bool:
    """Guess whether there is a noun: any word in lower case but a function word."""
    if place == len(doc):
        return False
    token = doc[place]
    return token.is_alpha and token.is_lower and token.text not in FUNCTION_WORDS


def _is_about_people(doc: Doc, place: int) -> bool:
    """Check whether a token is shortly behind a person or an age: "she is very", "33M"."""
    before = doc[max(0, place - 3) : place]
    return any(token.lower_ in _SUBJECTS or _AGE.fullmatch(token.text) for token in before)


def _is_label(doc: Doc, place: int) -> bool:
    """Check for "S1", "S2" and "S3" in "Figures S1, S2 and S3", which are no vertebrae."""
    before = place - 1
    while before >= 0 and (
        doc[before].lower_ in _BETWEEN_NUMBERS or _NUMBER.fullmatch(doc[before].text)
    ):
        before -= 1
    return before >= 0 and doc[before].lower_.rstrip(".") in _NUMBERED
