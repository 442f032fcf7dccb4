"""British spellings of medical words in the American way, which most ontologies prefer."""

import re
from functools import lru_cache

# Letters that American spelling omits; each pattern matches only them. Latin terms ("praecox") and
# genera ("Acanthamoeba") are spelled alike in both.
_LEFT_OUT = re.compile(
    r"a+(?=em(?!ul))|a+(?=esthe[st])|(?<=p)a+(?=edi)|(?<=gyn)a+(?=ec)|(?<=f)a+(?=ec)"
    r"|(?<=\bc)a+(?=ec)|(?<=\bc)a+(?=esar)|(?<=\b)a+(?=etiol)|(?<=\bn)a+(?=ev)|(?<=\bl)a+(?=evo)"
    r"|(?<=\bpal)a+(?=eo)"
    r"|o+(?=edema)|o+(?=esoph)|o+(?=estr[aiou])|(?<=rrh)o+(?=ea)|(?<=pn)o+(?=ea)|(?<=\bf)o+(?=et[aou])"
    r"|(?<=\bc)o+(?=eliac)|(?<=ph)a+(?=eochrom)|(?<=hom)o+(?=eo)|(?<=\bam)o+(?=ebi[ac])"
    r"|(?<=tumo)u+(?=r)|(?<=colo)u+(?=r)|(?<=behavio)u+(?=r)|(?<=odo)u+(?=r)|(?<=\blabo)u+(?=r)"
    r"|(?<=humo)u+(?=r)|(?<=\bmo)u+(?=lds?\b)|(?<=neuron)e+(?=s?\b)|(?<=\bag)e+(?=ing\b)",
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
_WORD = re.compile("(?<![A-Za-z])[A-Za-z]{5,60}(?![A-Za-z])")
_NEW_LETTERS = {"re": "er", "f": "f", "k": "k", "z": "z"}


def write_american(text: str) -> str:
    """Write British spellings of medical words in the American way: "haemorrhage", "oedema",
    "tumour", "fibre", "localised" become "hemorrhage", "edema", "tumor", "fiber", "localized".
    It is a list of stems, not a rule for every "ae" and "oe".

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return _WORD.sub(lambda match: _american(match[0]), text)


@lru_cache(maxsize=16_384)
def _american(word: str) -> str:
    return _REPLACED.sub(_replace, _LEFT_OUT.sub("", word))


def _replace(match: re.Match[str]) -> str:
    rule = match.lastgroup or ""
    letters = _NEW_LETTERS[rule]
    return match[rule] + (letters.upper() if match[0].isupper() else letters)
