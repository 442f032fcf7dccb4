"""The terms that mark a mention in clinical notes as negated, about a relative, or in the past.

They have negspacy's form: phrases before a mention, phrases behind it, phrases that look like them
but have no such meaning ("no change"), and phrases that end their scope ("but"). The negation terms
are negspacy's, without those that only express a possibility; the others are ours.
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
# Words that attribute a finding to a relative: "mother had asthma", not "mother reports fever".
_HAVING = ("had", "has", "have", "died of", "with", "w/")
_RELATIVES = ("maternal", "paternal", "mgf", "mgm", "pgf", "pgm")
_FAMILY = ("family history", "family hx", "family h/o", "fam hx", "fh", "fhx")
_PATIENT = ("but", "he", "patient", "pt", "she", "the child", "the infant")
_PAST = (
    *("h/o", "history of", "hx", "hx of", "past history", "past medical history", "pmh", "pmhx"),
    *("previous", "previously", "prior", "s/p", "status post"),
)
# Adjectives apply only to what follows them: in "previous heart attack, osteoarthritis" to one.
ADJECTIVES = frozenset(["previous", "prior"])
_PAST_BEHIND = ("ago", "in childhood", "in the past", "previously", "resolved")
_PRESENT = ("but", "currently", "now", "presented with", "presents with", "today", "who presents")


def negation_terms() -> Terms:
    """Get the terms of negation: negspacy's for clinical notes, without those that express a
    question.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
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
    """Get the terms that mark a mention as a relative's.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
    having = [f"{kin} {verb}" for kin in _KIN for verb in _HAVING]
    return _terms((*_FAMILY, *_RELATIVES, *having), ("in the family",), _PATIENT)


def history_terms() -> Terms:
    """Get the terms that mark a mention as in the past.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
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
