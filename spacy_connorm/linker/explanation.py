"""Why a mention gets its answer: its interpretations, and what each search finds for the texts of
the one that answers.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from ..concepts import Candidate
from .linking import REWORDED, link, retrieve
from .query import Query
from .retriever import Retriever
from .texts import Interpretation, MentionTexts, Way

# The number of candidates of each search that are printed.
_SHOWN = 3


class Step(NamedTuple):
    """What one search of the sieve found for a text.

    search (str): The search.
    threshold (Optional[float]): The score that it needs to answer; None for the last search.
    answers (bool): Whether this is the search that answers.
    candidates (List[Candidate]): What it found.
    """

    search: str
    threshold: float | None
    answers: bool
    candidates: list[Candidate]


class ExplainedPart(NamedTuple):
    """A text that was searched, and what was found for it.

    searched (str): The encoded text: the mention, its long form, a matched name, or a part.
    steps (List[Step]): What each search of the sieve found for it, in order.
    """

    searched: str
    steps: list[Step]


class Explanation(NamedTuple):
    """Why a mention gets its answer.

    mention (str): As given.
    parts (Sequence[ExplainedPart]): How the texts of the interpretation that answers were searched:
        one text, or one for each part of a composite.
    interpretations (Sequence[Interpretation]): All interpretations of the mention; the first one
        answers.
    """

    mention: str
    parts: Sequence[ExplainedPart]
    interpretations: Sequence[Interpretation]

    def __repr__(self) -> str:
        kind = self.interpretations[0].kind
        lines = [f"{self.mention!r}"]
        for searched, steps in self.parts:
            lines.append(f"  {kind}: {searched!r}")
            for search, threshold, answers, candidates in steps:
                needed = "" if threshold is None else f" (needs {threshold:.2f})"
                result = "answers" if answers else "does not answer" if candidates else "is empty"
                lines.append(f"    {search} {result}{needed}")
                lines += (f"      {candidate!r}" for candidate in candidates[:_SHOWN])
        return "\n".join(lines)

    @property
    def searched(self) -> str:
        """The text that was encoded.

        RETURNS (str): For a composite, the text of its first part.
        """
        return self.parts[0].searched

    @property
    def steps(self) -> list[Step]:
        """What the searches found.

        RETURNS (List[Step]): The searches; for a composite, those for the first part.
        """
        return self.parts[0].steps


def explain_mention(
    retriever: Retriever,
    mention: str,
    query: Query,
    *,
    long_form: str = "",
    matched_name: str = "",
) -> Explanation:
    """Link a mention, and keep what each search finds for the texts of the interpretation that
    answers.

    retriever, query: As for `link`.
    mention (str): The mention, as written.
    long_form (str): Its long form; empty if unknown.
    matched_name (str): The name that the finder matched; empty if there is none.
    RETURNS (Explanation): The interpretations and the searches.
    RAISES (ConnormError): As `link`.
    """
    (interpretations,) = link(
        retriever, [mention], query, long_forms=[long_form], matched_names=[matched_name]
    )
    answer, asked = interpretations[0], MentionTexts(mention, long_form, matched_name)
    parts = [ExplainedPart(text, []) for text in answer.texts]
    for search, threshold in query.sieve.steps:
        ways = {asked: [Way(answer.kind, answer.texts, answer.certainty)]}
        (alone,) = retrieve(retriever, ways, query.alone(search))[asked]
        # Scores that are lowered passed a threshold before.
        share = REWORDED if answer.kind == "reworded name" else answer.certainty
        needed = None if threshold == -inf else share * threshold
        for part, chosen, others in zip(parts, answer.parts, alone.parts, strict=True):
            # The search that answers has the candidates of the answer.
            answers = search == (chosen[0].search if chosen else query.sieve.searches[-1])
            candidates = chosen if answers else others[: query.top_k]
            part.steps.append(Step(str(search), needed, answers, candidates))
    return Explanation(mention, parts, interpretations)
