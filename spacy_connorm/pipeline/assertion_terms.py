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
_STATES = (
    *("absent", "excluded", "neg", "negative", "not appreciated", "not detected", "not found"),
    *("not identified", "not noted", "not palpable", "not present", "not seen", "ruled out"),
)
_BEING = ("", "is ", "are ", "has been ", "have been ")
# These apply only to the mention that they follow at once: in "HIV positive, hepatitis C negative"
# and "breast cancer, HER2 negative" to one or none.
_NEGATED_BEHIND = frozenset(being + state for being in _BEING for state in _STATES)
_KIN = (
    *("aunt", "brother", "cousin", "dad", "father", "grandfather", "grandmother", "mom", "mother"),
    *("mum", "parent", "parents", "relative", "relatives", "sibling", "siblings", "sister"),
    "uncle",
)
# What attributes a finding to a relative: "mother had asthma", "mother: asthma", not "mother
# reports fever".
_HAVING = (" had", " has", " have", " died of", " with", " w/", ":")
_IN_KIN = frozenset(f"in {whose}{kin}" for whose in ("", "her ", "his ") for kin in _KIN)
_RELATIVES = ("maternal", "paternal", "mgf", "mgm", "pgf", "pgm")
_FAMILY = ("family history", "family hx", "family h/o", "fam hx", "fh", "fhx")
_PATIENT = ("but", "he", "patient", "pt", "she", "the child", "the infant")
_PAST = (
    *("h/o", "history of", "hx", "hx of", "past:", "past history", "past medical history", "pmh"),
    *("pmhx", "previous", "previously", "prior", "s/p", "status post"),
)
# Adjectives apply only to what follows them: in "previous heart attack, osteoarthritis" to one.
ADJECTIVES = frozenset(["previous", "prior"])
_AS_CHILD = frozenset(["in childhood", "in infancy"])
_PAST_BEHIND = ("ago", *sorted(_AS_CHILD), "in the past", "previously", "resolved")
_PRESENT = (
    *("but", "currently", "now", "p/w", "presented w/", "presented with", "presenting", "presents"),
    "today",
)
# "Asthma, eczema in childhood", "hypertension, asthma in brother".
ADJACENT = _NEGATED_BEHIND | _IN_KIN | _AS_CHILD


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
        _FOLLOWING: [*terms[_FOLLOWING], *sorted(_NEGATED_BEHIND)],
        _TERMINATION: [*terms[_TERMINATION], ";"],
    }


def family_terms() -> Terms:
    """Get the terms that mark a mention as a relative's.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
    having = [kin + has for kin in _KIN for has in _HAVING]
    return _terms((*_FAMILY, *_RELATIVES, *having), ("in the family", *sorted(_IN_KIN)), _PATIENT)


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
