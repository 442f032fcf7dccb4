"""How an answer was found: a mention's interpretations, and what each search found for it."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from ..concepts import Candidate
from .retriever import Retriever
from .sieve import Question, Sieve, best_cosine

# Below every cosine.
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
    """One way to read a mention, and what was found for it.

    kind (str): "long form", "as written" or "parts".
    texts (Tuple[str, ...]): What was searched: one text, or one for each part.
    parts (Tuple[List[Candidate], ...]): The candidates of each text, best first.
    """

    kind: Literal["long form", "as written", "parts"]
    texts: tuple[str, ...]
    parts: tuple[list[Candidate], ...]

    @property
    def score(self) -> float:
        """RETURNS (float): The best score; of several parts that of the worst part."""
        return min(part[0].score if part else _NOTHING_FOUND for part in self.parts)

    @property
    def concepts(self) -> set[str]:
        """RETURNS (Set[str]): The first concept of each part."""
        return {part[0].concept_id for part in self.parts if part}

    @property
    def candidates(self) -> list[Candidate]:
        """RETURNS (List[Candidate]): All candidates, part by part, numbered by part."""
        if self.kind != "parts":
            return list(self.parts[0])
        return [
            candidate._replace(part=number)
            for number, part in enumerate(self.parts, start=1)
            for candidate in part
        ]

    def first(self, top_k: int) -> "Interpretation":
        """RETURNS (Interpretation): The same with at most top_k candidates for each text."""
        return Interpretation(self.kind, self.texts, tuple([part[:top_k] for part in self.parts]))


class ExplainedPart(NamedTuple):
    """A text that was searched, and what was found for it.

    searched (str): What was encoded, after normalization: the mention, its long form, or a part of
        either.
    steps (List[Step]): What the searches of the sieve find for it, in order.
    """

    searched: str
    steps: list[Step]


class Explanation(NamedTuple):
    """Why a mention gets its answer.

    mention (str): As given.
    parts (Sequence[ExplainedPart]): How the texts of the interpretation that answers were searched:
        one text, or one for each part of a composite.
    interpretations (Sequence[Interpretation]): How the mention was read; the first one answers.
    """

    mention: str
    parts: Sequence[ExplainedPart]
    interpretations: Sequence[Interpretation] = ()

    @property
    def searched(self) -> str:
        """RETURNS (str): What was encoded, of a composite for the first part."""
        return self.parts[0].searched

    @property
    def steps(self) -> list[Step]:
        """RETURNS (List[Step]): The searches, of a composite those for the first part."""
        return self.parts[0].steps

    def with_codes(
        self, add_codes: Callable[[list[list[Candidate]]], list[list[Candidate]]]
    ) -> "Explanation":
        """Add codes to all candidates.

        add_codes (Callable[[List[List[Candidate]]], List[List[Candidate]]]): Adds them to lists.
        RETURNS (Explanation): The same with codes.
        """
        parts = []
        for searched, steps in self.parts:
            found = add_codes([step.candidates for step in steps])
            both = zip(steps, found, strict=True)
            parts.append(ExplainedPart(searched, [step._replace(candidates=c) for step, c in both]))
        interpretations = [
            each._replace(parts=tuple(add_codes(list(each.parts)))) for each in self.interpretations
        ]
        return self._replace(parts=parts, interpretations=interpretations)


def explain_sieve(text: str, retriever: Retriever, question: Question) -> list[Step]:
    """Ask each search of a sieve.

    text (str): A cleaned text.
    retriever (Retriever): Answers.
    question (Question): The sieve and the limits.
    RETURNS (List[Step]): One step per search.
    """
    sieve = question.sieve
    found = {
        search: retriever.ask([text], question._replace(sieve=Sieve((search,), ())))
        for search in sieve.searches
    }
    ((answering, _),) = sieve.sift(1, lambda search, *_: found[search], best_cosine)
    return [
        Step(str(search), threshold, number == answering, *found[search])
        for number, (search, threshold) in enumerate(
            zip(sieve.searches, (*sieve.thresholds, None), strict=True)
        )
    ]
