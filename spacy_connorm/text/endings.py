"""Endings that replace each other in words of an ontology's names: "bowed femurs" and "femoral
bowing".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# The minimum number of letters before two endings, and before those of which one is shorter.
_SHORTEST_BEGINNING, _SAFE_BEGINNING = 3, 4
_SHORT_ENDING = 2


class EndingPair(NamedTuple):
    """Two endings.

    ending (str): The first one in alphabetical order; it may be empty.
    other (str): The other one.
    certainty (float): How likely words with these endings mean the same, 0 to 1.
    """

    ending: str
    other: str
    certainty: float = 1.0

    @property
    def shortest(self) -> int:
        """The minimum number of letters that words with these endings begin with, if they may be
        related: "ear" and "early" are not.

        RETURNS (int): The number.
        """
        is_short = min(len(self.ending), len(self.other)) < _SHORT_ENDING
        return _SAFE_BEGINNING if is_short else _SHORTEST_BEGINNING


class OtherEndings:
    """Replaces endings by others, in both directions."""

    def __init__(self, pairs: Iterable[EndingPair]) -> None:
        """Sort pairs by ending.

        pairs (Iterable[EndingPair]): The pairs.
        """
        self._pairs = defaultdict[str, list[tuple[str, int, EndingPair]]](list)
        for pair in pairs:
            self._pairs[pair.ending].append((pair.other, pair.shortest, pair))
            self._pairs[pair.other].append((pair.ending, pair.shortest, pair))

    def relatives_of(self, word: str) -> Iterator[tuple[str, EndingPair]]:
        """List the words with another ending.

        word (str): A normalized word.
        YIELDS (Tuple[str, EndingPair]): Words, most of which do not exist, and their endings.
        """
        for cut in range(_SHORTEST_BEGINNING, len(word) + 1):
            for other, shortest, pair in self._pairs.get(word[cut:], ()):
                if cut >= shortest:
                    yield word[:cut] + other, pair
