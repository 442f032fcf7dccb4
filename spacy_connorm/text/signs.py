"""Plus and minus after a word: "CD4+" is the opposite of "CD4-" with the same words."""

import re

_SIGNED = re.compile(r"(?<![^\W_])(?P<word>[^\W_]+)(?P<sign>[+-])(?![^\s,;:)\]/+-])")


def has_sign(text: str) -> bool:
    """RETURNS (bool): Whether a word of a text has a plus or a minus."""
    return bool(_SIGNED.search(text))


def are_opposite(text: str, other: str) -> bool:
    """Check whether a word has a plus in one text and a minus in the other.

    text (str): Any text; a hyphen at the end of a word counts as minus.
    other (str): Any text.
    RETURNS (bool): Whether there is such a word: "ER- breast cancer" and "ER+ breast cancer".
    """
    signs = _signs(text)
    return bool(signs) and any(
        signs.get(word, sign) != sign for word, sign in _signs(other).items()
    )


def _signs(text: str) -> dict[str, str]:
    return {match["word"].lower(): match["sign"] for match in _SIGNED.finditer(text)}
