"""Functions that undo ways to write a name, each from a cleaned text to another: tags, inverted
word order, British spelling, plurals, possessives. Words are compared after them, and names of
other orders found; texts are shown and encoded as written.
"""

import re
from functools import lru_cache

# Semantic tags of SNOMED CT's fully specified names: the redundant ones that Fivez et al. 2021 list
# (appendix A, disorders and neighbours), and other common ones. "disease" is Mondo's.
_IN_BRACKETS = frozenset(
    [
        *("administrative concept", "assessment scale", "attribute", "body structure", "cell"),
        *("cell structure", "clinical", "clinical drug", "context-dependent category", "disease"),
        *("disorder", "environment", "event", "finding", "function", "medicinal product"),
        *("morphologic abnormality", "nec", "nos", "observable entity", "occupation", "organism"),
        *("person", "physical force", "physical object", "procedure", "product"),
        *("qualifier value", "record artifact", "regime/therapy", "situation", "social concept"),
        *("specimen", "staging scale", "substance", "tumor staging"),
    ]
)
# UMLS marks homonyms, ICD and SNOMED residual classes, OMIM old and included titles. "NEC" needs
# its comma, since it is also necrotizing enterocolitis; "unspecified", since "type" may precede it.
_TAG_ENDINGS = (
    *(" [ambiguous]", " nos", ", nec", ", unspecified", ", not elsewhere classifiable"),
    *(", not elsewhere classified", ", not otherwise specified", " not otherwise specified"),
    *(", formerly", ", included"),
)
# The endings of texts that may end in a tag.
_LAST_LETTERS = (" ", ",", ")", ">", *_TAG_ENDINGS)
# Chapters of Read codes, OBO's mark of retired terms, ICD's residual classes.
_BEGINNINGS = ("[d]", "[m]", "[q]", "[so]", "[v]", "[x]", "obsolete ", "unspecified ")


def strip_tags(text: str) -> str:
    """Remove the tags of SNOMED CT, UMLS, ICD, OMIM, OBO and Read codes from both ends of a name:
    "Asthma (disorder)", "Asthma, NOS", "Cold <1>", "[X]Asthma".

    text (str): A cleaned text.
    RETURNS (str): The text without its tags; empty if it has nothing else.
    """
    # Lower-casing may change the length of a text, but not of ASCII.
    lowered = text.lower() if text.isascii() else "".join(map(_lower_ascii, text))
    start, end = 0, len(text)
    # Both ends are found in place: copying the rest of the text for each tag would take quadratic
    # time.
    while lowered.startswith(_BEGINNINGS, start):
        start += next(len(tag) for tag in _BEGINNINGS if lowered.startswith(tag, start))
        while lowered.startswith(" ", start):
            start += 1
    while lowered.endswith(_LAST_LETTERS, start, end):
        if (before := _skip_ending(lowered, start, end)) == end:
            break
        end = before
    return text[start:end].rstrip(" ,") if end - start < len(text) else text


def _lower_ascii(character: str) -> str:
    return character.lower() if character.isascii() else character


def _skip_ending(lowered: str, start: int, end: int) -> int:
    """Find the start of a tag at the end of a text.

    RETURNS (int): The start of the tag that ends at `end`, or `end` if there is none.
    """
    bare = end
    while lowered.endswith((" ", ","), start, bare):
        bare -= 1
    if lowered.endswith(_TAG_ENDINGS, start, bare):
        return bare - next(len(tag) for tag in _TAG_ENDINGS if lowered.endswith(tag, start, bare))
    for opening, closing in ("()", "<>"):
        if not lowered.endswith(closing, start, bare):
            continue
        bracket = lowered.rfind(opening, start, bare)
        if bracket >= 0 and _is_tag(opening, lowered[bracket + 1 : bare - 1]):
            while lowered.endswith(" ", start, bracket):
                bracket -= 1
            return bracket
    return end


def _is_tag(opening: str, inside: str) -> bool:
    return inside in _IN_BRACKETS if opening == "(" else inside.isdecimal()


_MOST_COMMAS = 2
_COMMA = re.compile(" ?, ")
# These words start a qualifier of the whole name, which belongs at its end.
_STAYS = re.compile(
    r"^(?:and|as|associated|by|due|from|in|of|or|secondary|susceptibility|to|with|without)\b"
    r"|\b(?:and|or|to)$|\b(?:and|or)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+[A-Za-z]?|[IVX]+")


def restore_word_order(text: str) -> str:
    """Move the qualifiers of an inverted name before its head: "Leukemia, Myeloid, Acute" becomes
    "Acute Myeloid Leukemia", "Tooth Agenesis, Selective, 6" "Selective Tooth Agenesis 6". Names
    with a conjunction, a qualifier such as "due to ..." or more than two commas do not change. A
    list of two ("nausea, vomiting") looks like an inverted name, so it changes too.

    text (str): A cleaned text.
    RETURNS (str): The name in natural order.
    """
    if ", " not in text or text.count(",") > _MOST_COMMAS:
        return text
    head, *qualifiers = _COMMA.split(text)
    if any(not part.strip(", ") or _STAYS.search(part) for part in (head, *qualifiers)):
        return text
    if any(part.endswith(",") for part in (head, *qualifiers)):
        return text
    number = [qualifiers.pop()] if _NUMBER.fullmatch(qualifiers[-1]) else []
    return " ".join([*reversed(qualifiers), head, *number])


# Letters that American spelling omits; each pattern matches only these. Latin terms ("praecox") and
# genera ("Acanthamoeba") are spelled the same in both.
_LEFT_OUT = re.compile(
    r"a+(?=em(?!ul))|a+(?=esthe[st])|(?<=p)a+(?=edi)|(?<=gyn)a+(?=ec)|(?<=f)a+(?=ec)"
    r"|(?<=\bc)a+(?=ec|esar|esium)|(?<=\bpr)a+(?=evia\b)|(?<=\balumin)i+(?=um)|(?<=\b)a+(?=etiol)"
    r"|(?<=\bn)a+(?=ev)|(?<=\bl)a+(?=evo)|(?<=\bpal)a+(?=eo)|(?<=\bmel)a+(?=ena)"
    r"|(?<=c)o+(?=eles?\b)|o+(?=edema)|o+(?=esoph)|o+(?=estr[aiou])|(?<=rrh)o+(?=e[ai])"
    r"|(?<=pn)o+(?=e[ai])|(?<=\bf)o+(?=et[aou])|(?<=\bc)o+(?=eliac)|(?<=ph)a+(?=eochrom)"
    r"|(?<=hom)o+(?=eo)|(?<=\bam)o+(?=ebi[ac])|(?<=tumo)u+(?=r)|(?<=colo)u+(?=r)"
    r"|(?<=behavio)u+(?=r)|(?<=odo)u+(?=r)|(?<=\blabo)u+(?=r)|(?<=humo)u+(?=r)"
    r"|(?<=\bmo)u+(?=lds?\b)|(?<=neuron)e+(?=s?\b)|(?<=\bag)e+(?=ing\b)",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?P<re>fib|cent|lit|tit|goit)re(?=s?\b)"
    r"|\b(?P<f>sul)ph(?=[aiou])"
    r"|\b(?P<k>leu)c(?=o(?:cyt|penia|dystroph|encephal|plakia))"
    r"|(?P<z>\b(?:(?:de)?myelin|general|immun|local|hospital|sensit|cauter|keratin|character"
    r"|stabil|visual|catheter|organ)i)s(?=ed\b|ation)",
    re.IGNORECASE,
)
# No word has more than sixty letters; a run of thousands of "a" would take seconds.
_SPELLED = re.compile("(?<![A-Za-z])[A-Za-z]{5,60}(?![A-Za-z])")
_NEW_LETTERS = {"re": "er", "f": "f", "k": "k", "z": "z"}


def write_american(text: str) -> str:
    """Replace British spellings of medical words by American ones: "haemorrhage", "oedema",
    "tumour", "fibre", "localised" become "hemorrhage", "edema", "tumor", "fiber", "localized". This
    uses a list of stems, not a rule for every "ae" and "oe".

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return _SPELLED.sub(lambda match: _american(match[0]), text)


@lru_cache(maxsize=16_384)
def _american(word: str) -> str:
    return _REPLACED.sub(_replace, _LEFT_OUT.sub("", word))


def _replace(match: re.Match[str]) -> str:
    rule = match.lastgroup or ""
    letters = _NEW_LETTERS[rule]
    return match[rule] + (letters.upper() if match[0].isupper() else letters)


# Words and endings that look like plurals but are not. Eponyms are listed too, since nothing else
# distinguishes them in capitalized names.
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
    *("ss", "us", "is", "icans", "ficans", "erans", "etans", "inans", "itans", "mans", "stans"),
    *("trans", "formans", "spadias"),
)
_IRREGULAR = {
    **{"children": "child", "feet": "foot", "humans": "human", "lice": "louse", "mice": "mouse"},
    **{"talismans": "talisman", "teeth": "tooth", "women": "woman"},
    **{"doses": "dose", "glucoses": "glucose", "noses": "nose", "overdoses": "overdose"},
}
# The first ending that fits is replaced.
_PLURAL_ENDINGS = (
    *(("omata", "oma"), ("itides", "itis"), ("aches", "ache"), ("oses", "osis")),
    *(("geneses", "genesis"), ("stases", "stasis"), ("ectases", "ectasis"), ("iases", "iasis")),
    *(("yses", "ysis"), ("pareses", "paresis"), ("crises", "crisis"), ("scleroses", "sclerosis")),
    *(("iruses", "irus"), ("inuses", "inus"), ("etuses", "etus"), ("sses", "ss"), ("xes", "x")),
    *(("ches", "ch"), ("shes", "sh"), ("ies", "y"), ("s", ""), ("i", "us")),
)
_SHORTEST = 4
_PLURAL_WORD = re.compile(
    r"(?<![^\W_])(?:[a-z]{2,}(?:s|omata)|[a-z]*(?:bacill|bronch|calcul|embol|nev|thromb)i"
    r"|children|feet|lice|mice|teeth|women)(?![^\W_])",
    re.IGNORECASE,
)
_SHORT_FORM = re.compile(r"[A-Z]{2,}s")


def drop_plurals(text: str) -> str:
    """Replace clear plurals by their singular: "tumours" becomes "tumour", "stenoses" "stenosis",
    "dermatitides" "dermatitis", "CVAs" "CVA". Words that only look like plurals ("diabetes",
    "Graves"), words in capitals ("AIDS") and unclear plurals ("vertebrae") do not change.

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return _PLURAL_WORD.sub(lambda match: _singular(match[0]), text)


@lru_cache(maxsize=16_384)
def _singular(word: str) -> str:
    if _SHORT_FORM.fullmatch(word):
        return word[:-1]
    lowered = word.lower()
    if lowered in _IRREGULAR and not word.isupper():
        return word[0] + _IRREGULAR[lowered][1:]
    if _is_singular(word, lowered):
        return word
    plural, singular = next(pair for pair in _PLURAL_ENDINGS if lowered.endswith(pair[0]))
    # "lipomatas" is a double plural.
    return _singular(word[: len(word) - len(plural)] + singular)


def _is_singular(word: str, lowered: str) -> bool:
    return (
        word.isupper()
        or len(word) < _SHORTEST
        or not lowered.endswith(("s", "omata", "i"))
        or lowered.endswith(_SINGULAR_ENDINGS)
        or lowered in _STAYING
    )


# A chain of possessives is matched only from its start: matching it from each of them would take
# quadratic time.
_POSSESSIVE = re.compile(r"(?<!\w's)(?:(?<=\w)'s)+'*(?![\w'])|(?<=s)'+(?![\w'])", re.IGNORECASE)


def drop_possessives(text: str) -> str:
    """Remove the possessive of eponyms: "Crohn's disease" becomes "Crohn disease".

    text (str): A cleaned text with straight apostrophes (see `unify_unicode`).
    RETURNS (str): The text.
    """
    return _POSSESSIVE.sub("", text) if "'" in text else text
