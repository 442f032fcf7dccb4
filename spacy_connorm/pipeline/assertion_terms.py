"""The words by which clinical notes say that a mention is absent, a relative's, or in the past.

They come in negspacy's form: phrases before a mention, phrases behind it, phrases that look like
them and say nothing ("no change"), and phrases that end their reach ("but"). Those of negation are
negspacy's own, less what only says that something is possible; the others are ours.
"""

from collections.abc import Iterable

Terms = dict[str, list[str]]

_PSEUDO = "pseudo_negations"
_PRECEDING = "preceding_negations"
_FOLLOWING = "following_negations"
_TERMINATION = "termination"
KINDS = (_PSEUDO, _PRECEDING, _FOLLOWING, _TERMINATION)

# "R/o MI" asks a question.
_QUESTIONS = frozenset(
    (
        *("doubt", "evaluate for", "r/o", "ro", "rule her out", "rule him out", "rule out"),
        *("rule patient out", "rule the patient out", "symptoms atypical", "versus"),
    )
)
_MORE_NEGATIONS = ("neg for", "nil", "w/o")
_KIN = (
    *("aunt", "brother", "cousin", "dad", "father", "grandfather", "grandmother", "mom", "mother"),
    *("mum", "parent", "parents", "relative", "relatives", "sibling", "siblings", "sister"),
    "uncle",
)
# What makes relatives the ones who have it: "mother had asthma", not "mother reports fever".
_HAVING = ("had", "has", "have", "died of", "with", "w/")
_RELATIVES = ("maternal", "paternal", "mgf", "mgm", "pgf", "pgm")
_FAMILY = ("family history", "family hx", "family h/o", "fam hx", "fh", "fhx")
_PATIENT = ("but", "he", "patient", "pt", "she", "the child", "the infant")
_PAST = (
    *("h/o", "history of", "hx", "hx of", "past history", "past medical history", "pmh", "pmhx"),
    *("previous", "previously", "prior", "s/p", "status post"),
)
# Adjectives say it of what they stand before: in "previous heart attack, osteoarthritis" of one.
ADJECTIVES = frozenset(["previous", "prior"])
_PAST_BEHIND = ("ago", "in childhood", "in the past", "previously", "resolved")
_PRESENT = ("but", "currently", "now", "presented with", "presents with", "today", "who presents")


def negation_terms() -> Terms:
    """RETURNS (Dict[str, List[str]]): The words of negation: those of negspacy for clinical notes,
    without those of questions.
    """
    from negspacy.termsets import termset

    terms = termset("en_clinical").get_patterns()
    preceding = [each for each in terms[_PRECEDING] if each not in _QUESTIONS]
    return {
        **terms,
        _PRECEDING: [*preceding, *_MORE_NEGATIONS],
        _TERMINATION: [*terms[_TERMINATION], ";"],
    }


def family_terms() -> Terms:
    """RETURNS (Dict[str, List[str]]): The words by which a mention is a relative's."""
    having = [f"{kin} {verb}" for kin in _KIN for verb in _HAVING]
    return _terms((*_FAMILY, *_RELATIVES, *having), ("in the family",), _PATIENT)


def history_terms() -> Terms:
    """RETURNS (Dict[str, List[str]]): The words by which a mention is in the past."""
    present = ("history of present illness", "hx of present illness", "hpi")
    return _terms(_PAST, _PAST_BEHIND, _PRESENT, (*present, *_FAMILY))


def _terms(
    before: Iterable[str],
    behind: Iterable[str],
    ends: Iterable[str],
    nothing: Iterable[str] = (),
) -> Terms:
    parts = (nothing, before, behind, ends)
    return {kind: list(phrases) for kind, phrases in zip(KINDS, parts, strict=True)}
