"""Greek letters and their names."""

import re

_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma sigma tau upsilon phi chi psi omega"
)
_SMALL = {chr(ord("α") + place): name for place, name in enumerate(_NAMES.split())}
_CAPITAL = {letter.upper(): name.title() for letter, name in _SMALL.items()}
_SYMBOLS = {
    "ϐ": "beta",
    "ϑ": "theta",
    "ϕ": "phi",
    "ϖ": "pi",
    "ϰ": "kappa",
    "ϱ": "rho",
    "ϵ": "epsilon",
}
NAMES = {**_SMALL, **_CAPITAL, **_SYMBOLS, "\N{MICRO SIGN}": "mu"}

_LETTER = "[" + "".join(NAMES) + "]"
_ANY_GREEK = r"[\u0370-\u03ff\u1f00-\u1fff]"
_UNIT = re.compile(r"[μ\N{MICRO SIGN}](?=(?:g|l|L|m|M|mol|s)(?![^\W\d_]))")
# "γδ T-cell" has two letters; three or more in a row are a Greek word.
_LETTERS = re.compile(rf"(?<!{_ANY_GREEK}){_LETTER}{{1,2}}(?!{_ANY_GREEK})")


def spell_greek(text: str) -> str:
    """Spell out Greek letters: "β-thalassemia" becomes "beta-thalassemia", as in most ontologies
    and word-piece vocabularies. Greek words stay; the prefix of a unit becomes "u" ("ug").

    text (str): A cleaned text.
    RETURNS (str): The text with the names of the letters.
    """
    if text.isascii():
        return text
    return _LETTERS.sub(_spell, _UNIT.sub("u", text))


def _spell(match: re.Match[str]) -> str:
    return "-".join(NAMES[letter] for letter in match[0])
