"""Texts made of small alphabets: those that were slow once, and generated ones. Seeded."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

_ATOMS = """
' 's s S ’ - – ( ) [ ] () (A1) (nos) [x] <1> < > \u0301 \u0323 \u0327 e a A 1 I V X i / , ; : = .
and or & and/or also type stage obsolete β γδ μg MI AS As omata ies ſ Σ İ ß ae oe haem \u00ad \u200b
ﬁ ﾞ 한 \u1100\u1161 ” ` hand, foot nos nec A1s cancer diseases of the
"""
ATOMS = (
    *_ATOMS.split(),
    " ",
    "\t",
    "\n",
    ", ",
    " and ",
    " or ",
    " (",
    ") ",
    ", nec",
    " nos",
    "- and ",
)


class Pattern(NamedTuple):
    """A text of any length: a unit that is repeated, between a beginning and an end."""

    beginning: str
    unit: str
    end: str

    def text(self, length: int) -> str:
        """RETURNS (str): About that many characters."""
        return self.beginning + self.unit * (length // len(self.unit)) + self.end


# What took quadratic time or more, and units that look like it.
KNOWN = (
    Pattern("a", "'s", "x"),
    Pattern("s", "'", "x"),
    Pattern("e", "\u0301\u0323", ""),
    Pattern("e", "\u0301\u0323\uff9e", "x"),
    Pattern("x", " (nos)", ""),
    Pattern("", "[x] ", "x"),
    Pattern("x", ", ", "."),
    Pattern("type I", "-I", "x"),
    Pattern("", "(A1)", ""),
    Pattern("x", "-", " "),
    Pattern("x and", " ", "x"),
    Pattern("", "MI ", "AS"),
    Pattern("", "a", "'"),
    Pattern("", "aeiou", "A"),
    Pattern("b", "/a", ""),
    Pattern("", "I", "1a"),
    Pattern("", '"\\', ""),
    Pattern("also", " ", "x"),
)


def patterns(number: int, seed: int = 0, alphabet: tuple[str, ...] = ATOMS) -> Iterator[Pattern]:
    """YIELDS (Pattern): Generated ones."""
    random = Random(seed)
    for _ in range(number):
        unit = _join(random, alphabet, random.choice((1, 1, 2, 2, 3, 4)))
        yield Pattern(
            _join(random, alphabet, random.randrange(3)),
            unit,
            _join(random, alphabet, random.randrange(3)),
        )


def texts(number: int, seed: int = 0) -> Iterator[str]:
    """YIELDS (str): Generated ones of up to twelve pieces."""
    random = Random(seed)
    for _ in range(number):
        yield _join(random, ATOMS, random.randrange(13))


def _join(random: Random, alphabet: tuple[str, ...], number: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(number))
