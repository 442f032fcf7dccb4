"""The terms that mark a mention in clinical notes as negated, possible, about a relative, or in the
past.

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

KIN = (
    *("aunt", "brother", "cousin", "dad", "daughter", "father", "grandfather", "grandmother"),
    *("mom", "mother", "mum", "nephew", "niece", "parent", "relative", "sibling", "sister", "son"),
    *("husband", "partner", "spouse", "uncle", "wife"),
    *("daddy", "gran", "grandad", "granddad", "grandma", "grandpa", "grandparent", "granny"),
    *("mam", "mama", "mommy", "mummy", "nan", "nana", "papa"),
)
# "Runs in the family".
OWN_FAMILY = ("her", "his", "my", "our", "the", "their", "your")
VERSUS = frozenset(["versus", "vs", "vs."])
# "R/o MI" asks a question.
_QUESTIONS = frozenset(
    (
        *("doubt", "evaluate for", "r/o", "ro", "rule her out", "rule him out", "rule out"),
        *("rule patient out", "rule the patient out", "symptoms atypical", *VERSUS),
    )
)
_CANNOT = ("can't", "can not", "cannot", "could not", "couldn't", "does not", "not")
_CANNOT_EXCLUDE = tuple(
    f"{cannot} {each}" for cannot in _CANNOT for each in ("exclude", "rule out")
)
_NOT_EXCLUDED = tuple(
    f"{cannot} {excluded}"
    for cannot in _CANNOT
    for excluded in ("be excluded", "be ruled out", "excluded")
)
# Right before a mention, "?stroke", or right behind it.
QUESTION_MARK = "?"
_GUESSED = frozenset(
    (
        *("likely", "possible", "possibly", "presumed", "presumptive", "probable", "probably"),
        *("questionable", "suspected"),
    )
)
_CAN = ("could", "may", "might")
_OF = ("about", "for", "of", "re", "regarding")
_ASKED = (
    *("assess for", "check for", "differential", "differential diagnosis", "differential includes"),
    *("differentials", "possibilities include", "possibilities are"),
    *("ddx", "evaluation for", "look for", "looking for", "query", "question of", "screen for"),
    *("screening for", "to exclude", "workup for", "work-up for"),
    *(f"{doubt} {of}" for doubt in ("concern", "concerned", "suspicion") for of in _OF),
    *("concerning for", "suspect", "suspicious for"),
    *("suggesting", "suggestive of"),
    *(f"{can} {be}" for can in _CAN for be in ("be", "have", "indicate", "reflect", "represent")),
)
_FEARED = (
    *("call for", "if", "in case of", "in the event of", "monitor for", "monitoring for"),
    *("prevention of",),
    *("red flags", "return precautions", "risk factor for", "risk factors for", "risk for"),
    "risk of",
    *(
        f"safety{joint}{net}{re}"
        for joint in (" ", "-")
        for net in ("net", "netted", "netting")
        for re in (":", " for", " re")
    ),
    *("should he", "should she", "should the patient", "should they", "to avoid", "to prevent"),
    *("unless", "watch for", "watching for", "worried about"),
    *(f"warn{ed} {of}" for ed in ("", "ed") for of in _OF),
    *(f"{can} {cause}" for can in ("can", *_CAN) for cause in ("cause", "lead to", "result in")),
    *(f"{unwanted} effects" for unwanted in ("adverse", "potential", "side")),
    *(f"{against} against" for against in ("immunised", "immunized", "vaccinated", "vaccination")),
)
_ARE = ("is", "are", "was", "were")
_BEING = ("", "is ", "are ", "was ", "were ", "has been ", "have been ")
_REMAINS = ("remain", "remains")
_PLACES = ("in the", "on the", "on her", "on his", "on our", "remains in the", "remains on the")
# At the start of a sentence or list item, before a mention: "Consider sepsis", not "we consider".
IMPERATIVES = frozenset(["consider", "exclude", "return for"])
# Those about all mentions behind them: "return for weight gain > 3 lbs, or fever".
WARNINGS = frozenset(["return for"])
_UNLIKELY = "unlikely"
_THOUGHT_UNLIKELY = (
    *(f"{very}{_UNLIKELY}" for very in ("", "highly ", "most ", "seems ", "very ")),
    *(
        f"{felt} {to_be}{_UNLIKELY}"
        for felt in ("considered", "deemed", "felt", "judged", "thought")
        for to_be in ("", "to be ")
    ),
)
_NOT_SURE = frozenset(
    (
        *(f"{being}{felt}" for being in _BEING for felt in _THOUGHT_UNLIKELY),
        *(f"{being} {sure}" for being in (*_ARE, *_REMAINS, "seems") for sure in _GUESSED),
        *(f"{being} {each} possibility" for being in (*_ARE, *_REMAINS) for each in ("a", "one")),
        *(f"{being}{place} differential" for being in _BEING for place in _PLACES),
        *(f"{being} considered" for being in (*_ARE, "being")),
        *(f"{should} be considered" for should in ("can", "could", "may", "should")),
        *("is less likely", "less likely", "not ruled out", "to be excluded", "to be ruled out"),
        *VERSUS,
        QUESTION_MARK,
        *_NOT_EXCLUDED,
    )
)
# "Probable sepsis with low blood pressure"; "if possible".
_SURE = (
    *(";", "although", "as he", "as her", "as his", "as she", "because", "but", "due to", "given"),
    *("however", "secondary to", "since", "though", "with"),
    *(f"as {who}" for who in ("my", "our", "their", "your", *KIN)),
)
_NO_GUESS = (
    *("as possible", "if possible", "if needed", "if required", "query about", "suspected in"),
    *("no red flags", "suspected of having"),
)
_MORE_NEGATIONS = (
    *("hadn't", "hasn't", "haven't", "neg for", "neither", "nil", "nor", "-ve for", "w/o"),
    *(f"fail{ed} to {show}" for ed in ("ed", "s") for show in ("detect", "reveal", "show")),
)
# "Migraine with or without aura".
_EITHER = tuple(f"with {joint} without" for joint in ("and", "and/or", "or"))
# A minus right before a mention, "-fever", and its form in lists of symptoms.
_MINUSES = frozenset(["-", "(-)"])
# Right before a mention, if not ticked: "[ ] fever [x] cough".
_BOXES = frozenset(["[ ]", "[]", "( )", "()", "☐"])
SIGNS = _MINUSES | _BOXES | {QUESTION_MARK}
# What else a text says behind a comma or an "and": "denies fever, reports cough".
_AFFIRMING = (
    *("admits", "c/o", "complained", "complains", "describes", "endorses", "had", "has", "notes"),
    *("reported", "reports", "states"),
)
_ENDS_OF_NEGATION = (
    *(f"{joint} {verb}" for joint in (",", "and") for verb in _AFFIRMING),
    *(", just", ", only", ", with", ", +", ";", "pos for", "positive for"),
    *(", h/o", ", history of", ", hx", ", pmh", ", s/p"),
    *("and developed", "because", "because of", "if", "unless"),
    *("to evaluate", "to exclude", "to look for", "to rule out"),
)
# "No further fits" denies them.
_NEGATIONS_TOO = frozenset(["no further", "without any further", "without further"])
_SEEN = ("noted", "present", "reported", "seen")
_FOUND = (
    *("apparent", "appreciated", "confirmed", "convincing", "demonstrated", "detected", "elicited"),
    *("evident", "found", "identified", "observed", "palpable", "suspected", "visible"),
    *("visualised", "visualized", *_SEEN),
)
_STATES = (
    *("absent", "excluded", "neg", "negative", "ruled out"),
    *(f"{never} {found}" for never in ("never", "not") for found in _FOUND),
)
_OCCURRED = ("occurred", *(f"been {found}" for found in ("a feature", "a problem", *_FOUND)))
_NEVER = frozenset(
    f"{has} {never} {occurred}"
    for has in ("had", "has", "have")
    for never in ("never", "not")
    for occurred in _OCCURRED
)
# These apply only to the mention that they follow at once: in "HIV positive, hepatitis C negative"
# and "breast cancer, HER2 negative" to one or none.
_NEGATED_BEHIND = _NEVER | {being + state for being in _BEING for state in _STATES} | {"free"}
# The same behind a colon or a dash ("rash: negative"); and the answers of a list of symptoms, if
# nothing follows: "fever: no", "fever denied, cough", "fever (-), cough (+)".
_GUESSES = frozenset(["likely", "possible", "probable", "suspected"])
_NONE = frozenset(
    f"{none} {seen}" for none in ("nil", "none") for seen in ("known", "of note", *_SEEN)
)
_NO = frozenset(["0/10", "denied", "denies", "n", "nil", "nka", "nkda", "no", "none"])
ANSWERS = _NONE | _MINUSES | _NO | _GUESSES
_RELATIVES = ("maternal", "paternal", "mgf", "mgm", "pgf", "pgm")
_FAMILY = (
    *("family:", "family antecedents", "family history", "family hx", "family h/o", "fam hx", "fh"),
    "fhx",
)
_PATIENT = (
    *("anyone", "but", "he", "if you", "patient", "proband", "pt", "she", "the child"),
    *("the infant", "i am", "i had", "i have", "you are", "you have"),
    # "Mother, who has asthma, reports fever".
    *(f", {verb}" for verb in ("describes", "noticed", "reported", "reports", "says", "states")),
)
_PAST = (
    *("antecedents", "h/o", "history includes", "history notable for", "history of"),
    *("history remarkable for", "history significant for", "hx", "hx of", "medical history"),
    *("past:", "past history", "past medical history", "past problems", "personal history", "pmh"),
    *("pmhx", "prev", "previous", "previously", "prior", "remote", "s/p", "significant past"),
    "status post",
)
# These apply only to what follows them up to a comma: in "previous heart attack, osteoarthritis" to
# one.
UP_TO_COMMA = _GUESSED | VERSUS | {"prev", "previous", "prior", "remote", "s/p", "status post"}
_PAST_BEHIND = ("ago", "in the past", "previously", "resolved")
# "H/o stroke with residual weakness, asthma": these end a scope up to a comma.
PAUSES = frozenset(["residual"])
_PRESENT = (
    *("admitted", "brought in", "but", "c/o", "comes in", "complaining of", "complains of"),
    *("currently", "found to have", "here for", "here with", "now", "p/w", "presented w/"),
    *("presented with", "presenting", "presents", "referred", "today", "transferred"),
    *sorted(PAUSES),
)
ADJACENT = _NEGATED_BEHIND | ANSWERS | _NOT_SURE


def negation_terms() -> Terms:
    """Get the terms of negation: negspacy's for clinical notes, without those that express a
    question.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
    from negspacy.termsets import termset

    terms = termset("en_clinical").get_patterns()
    preceding = [each for each in terms[_PRECEDING] if each not in _QUESTIONS]
    # negspacy counts it as a denial; here it is a doubt.
    following = [each for each in terms[_FOLLOWING] if each != _UNLIKELY]
    pseudo = [each for each in terms[_PSEUDO] if each not in _NEGATIONS_TOO]
    return _terms(
        [*preceding, *_MORE_NEGATIONS, *sorted(_MINUSES | _BOXES)],
        [*following, *sorted(_NEGATED_BEHIND | (ANSWERS - _GUESSES))],
        [*terms[_TERMINATION], *_ENDS_OF_NEGATION],
        [*pseudo, *_CANNOT_EXCLUDE, *_NOT_EXCLUDED, *_EITHER],
    )


def possible_terms() -> Terms:
    """Get the terms that mark a mention as possible: suspected, asked for, or feared.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
    before = (
        *sorted(_QUESTIONS | _GUESSED | IMPERATIVES),
        *(*_CANNOT_EXCLUDE, *_ASKED, *_FEARED, QUESTION_MARK),
    )
    return _terms(before, sorted(_NOT_SURE | _GUESSES), _SURE, _NO_GUESS)


def family_terms() -> Terms:
    """Get the terms that mark a mention as a relative's.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
    in_family = (f"in {whose} family" for whose in OWN_FAMILY)
    # "Discussed with family: ..."
    told = (f"{by} family:" for by in ("by", "from", "per", "to", "with"))
    return _terms((*_FAMILY, *_RELATIVES), in_family, _PATIENT, told)


def history_terms() -> Terms:
    """Get the terms that mark a mention as in the past.

    RETURNS (Dict[str, List[str]]): Phrases by kind.
    """
    present = (
        *("history of present illness", "hx of present illness", "hpi", "has not resolved"),
        *("have not resolved", "not resolved"),
    )
    return _terms(_PAST, _PAST_BEHIND, _PRESENT, (*present, *_FAMILY))


def _terms(
    before: Iterable[str],
    behind: Iterable[str],
    ends: Iterable[str],
    nothing: Iterable[str] = (),
) -> Terms:
    parts = {}
    for kind, phrases in zip(KINDS, (nothing, before, behind, ends), strict=True):
        straight = list(phrases)
        curly = (each.replace("'", "\u2019") for each in straight if "'" in each)
        parts[kind] = [*straight, *curly]
    return parts
