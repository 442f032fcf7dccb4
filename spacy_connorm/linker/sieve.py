"""Sieves: ordered searches (Xu & Bethard 2021, section 3.2.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

from ..errors import refuse
from ..index.search import Search

Found = TypeVar("Found")
# The threshold of the first search in the default sieve.
DEFAULT_THRESHOLD = 0.98


@dataclass(frozen=True)
class Sieve:
    """An ordered list of searches, `spacy-connorm.Sieve.v1`: the first one whose best cosine
    reaches its threshold answers; the last one always answers.

    searches (Sequence[str]): Of "O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"; kept as a tuple.
    thresholds (Sequence[float]): One for each search except the last; kept as a tuple.
    steps (Tuple[Tuple[Search, float], ...]): Each search with the cosine that it needs to answer;
        the last one needs none.
    """

    searches: Sequence[str] = ("D-T", "OD-T")
    thresholds: Sequence[float] = (DEFAULT_THRESHOLD,)
    steps: tuple[tuple[Search, float], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the searches and thresholds.

        RAISES (ConnormError): CN118 for an unknown search, CN006 for the wrong number of
            thresholds, or for one that is not a cosine.
        """
        searches, thresholds = tuple(map(Search, self.searches)), tuple(self.thresholds)
        for threshold in thresholds:
            if not -1 <= threshold <= 1:
                refuse("thresholds", threshold, "cosines, from -1 to 1")
        if not searches or len(thresholds) != len(searches) - 1:
            refuse("thresholds", thresholds, "one for each search but the last")
        # Configs contain lists; tuples can be hashed.
        object.__setattr__(self, "searches", searches)
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "steps", tuple(zip(searches, (*thresholds, -inf), strict=True)))

    def choose(
        self, found: Mapping[str, Sequence[Found]], score: Callable[[Found], float]
    ) -> list[Found]:
        """Choose the answers for mentions, given what each search alone has found.

        found (Mapping[str, Sequence[Found]]): For each search, what it found for b mentions.
        score (Callable): The best cosine of what was found; -inf if nothing was.
        RETURNS (List[Found]): b answers.
        """
        return [
            next(
                each
                for each, (_, threshold) in zip(answers, self.steps, strict=True)
                if score(each) >= threshold
            )
            for answers in zip(*(found[search] for search in self.searches), strict=True)
        ]
