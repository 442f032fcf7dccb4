"""How an answer came about: what a mention was read as, and what each search found for it."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..concepts import Candidate

# Under every cosine.
_NOTHING_FOUND = -1.0


class Step(NamedTuple):
    """What one search of the sieve finds for a mention.

    search (str): The search.
    threshold (Optional[float]): The cosine it needs to answer; None for the last search.
    answers (bool): Whether this is the search that answers.
    candidates (List[Candidate]): What it finds.
    """

    search: str
    threshold: float | None
    answers: bool
    candidates: list[Candidate]


class Interpretation(NamedTuple):
    """One way to understand a mention, looked up.

    kind (str): "long form", "as written" or "parts".
    texts (Tuple[str, ...]): What was looked up: one text, or one a part.
    parts (Tuple[List[Candidate], ...]): The candidates of each text, best first.
    """

    kind: Literal["long form", "as written", "parts"]
    texts: tuple[str, ...]
    parts: tuple[list[Candidate], ...]

    @property
    def score(self) -> float:
        """RETURNS (float): The best score; of several parts that of the one that links worst."""
        return min(part[0].score if part else _NOTHING_FOUND for part in self.parts)

    @property
    def concepts(self) -> set[str]:
        """RETURNS (Set[str]): The first concept of each part."""
        return {part[0].concept_id for part in self.parts if part}

    @property
    def candidates(self) -> list[Candidate]:
        """RETURNS (List[Candidate]): All, part by part; each says which part it belongs to."""
        if self.kind != "parts":
            return list(self.parts[0])
        return [
            candidate._replace(part=number)
            for number, part in enumerate(self.parts, start=1)
            for candidate in part
        ]

    def first(self, top_k: int) -> "Interpretation":
        """RETURNS (Interpretation): With at most top_k candidates a text."""
        return Interpretation(self.kind, self.texts, tuple([part[:top_k] for part in self.parts]))


class Explanation(NamedTuple):
    """Why a mention gets its answer.

    mention (str): As given.
    searched (str): The text that was encoded, all steps of normalization done: the mention, its
        long form, or the first of its parts.
    steps (List[Step]): What the searches of the sieve find for it, in order.
    interpretations (Sequence[Interpretation]): All, the one that answers first; empty
        if only the text itself was asked for.
    """

    mention: str
    searched: str
    steps: list[Step]
    interpretations: Sequence[Interpretation] = ()

    @property
    def readings(self) -> Sequence[Interpretation]:
        """RETURNS (Sequence[Interpretation]): `interpretations`, under their name in 0.1."""
        return self.interpretations
