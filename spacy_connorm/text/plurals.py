"""Plurals of English words and of medical words from Greek."""

import re
from functools import lru_cache

# Words and endings that look like plurals but are not. Eponyms are listed too, since nothing else
# tells them apart in capitalized names.
_SINGULAR_WORDS = """
abducens adams aids albicans ascites atlas bates biceps caries charles chaos christmas coats
cosmos danlos diabetes ehlers evans facies faeces feces fluorescens forceps fryns
fuchs gas graves herpes hives hodges hughes jacobs james jones kearns langerhans
lens louis measles melas mers migrans mumps myles naxos news pancreas perthes peters poems
pons progrediens pruriens quadriceps rabies recurrens reyes richards rickets roberts rogers
sachs sars scabies series shingles siemens sottas species stevens stokes superficies tabes
tremens triceps williams wilms yaws
"""
_STAYING = frozenset(_SINGULAR_WORDS.split())
_SINGULAR_ENDINGS = (
    "ss",
    "us",
    "is",
    "icans",
    "ficans",
    "erans",
    "etans",
    "inans",
    "itans",
    "mans",
    "stans",
    "trans",
    "formans",
    "spadias",
)
_IRREGULAR = {
    "children": "child",
    "doses": "dose",
    "feet": "foot",
    "glucoses": "glucose",
    "humans": "human",
    "noses": "nose",
    "overdoses": "overdose",
    "talismans": "talisman",
    "teeth": "tooth",
    "women": "woman",
}
# The first ending that fits is replaced.
_ENDINGS = (
    ("omata", "oma"),
    ("itides", "itis"),
    ("aches", "ache"),
    ("oses", "osis"),
    ("geneses", "genesis"),
    ("stases", "stasis"),
    ("ectases", "ectasis"),
    ("iases", "iasis"),
    ("yses", "ysis"),
    ("pareses", "paresis"),
    ("crises", "crisis"),
    ("scleroses", "sclerosis"),
    ("iruses", "irus"),
    ("inuses", "inus"),
    ("etuses", "etus"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("ies", "y"),
    ("s", ""),
)
_SHORTEST = 4

_WORD = re.compile(
    r"(?<![^\W_])(?:[a-z]{2,}(?:s|omata)|children|feet|teeth|women)(?![^\W_])",
    re.IGNORECASE,
)
_SHORT_FORM = re.compile(r"[A-Z]{2,}s")


def drop_plurals(text: str) -> str:
    """Replace clear plurals by their singular: "tumours" becomes "tumour", "stenoses" "stenosis",
    "dermatitides" "dermatitis", "CVAs" "CVA". Words that only look like plurals ("diabetes",
    "Graves"), words in capitals ("AIDS") and unclear plurals ("vertebrae") stay.

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return _WORD.sub(lambda match: _singular(match[0]), text)


@lru_cache(maxsize=16_384)
def _singular(word: str) -> str:
    if _SHORT_FORM.fullmatch(word):
        return word[:-1]
    lowered = word.lower()
    if lowered in _IRREGULAR and not word.isupper():
        return word[0] + _IRREGULAR[lowered][1:]
    if _is_singular(word, lowered):
        return word
    plural, singular = next(pair for pair in _ENDINGS if lowered.endswith(pair[0]))
    # "lipomatas" is a double plural.
    return _singular(word[: len(word) - len(plural)] + singular)


def _is_singular(word: str, lowered: str) -> bool:
    return (
        word.isupper()
        or len(word) < _SHORTEST
        or not lowered.endswith(("s", "omata"))
        or lowered.endswith(_SINGULAR_ENDINGS)
        or lowered in _STAYING
    )
