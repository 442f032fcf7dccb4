"""Sieves: ordered searches (Xu & Bethard 2021, section 3.2.1; design section 5)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..concepts import Candidate
from ..errors import ConnormError, Errors
from ..index.concept_index import ConceptIndex
from ..index.filters import Filter
from ..index.overlay import SynonymOverlay
from ..index.search import SEARCHES, Hit, Query, run_search


@dataclass(frozen=True)
class Sieve:
    """Searches in order, `spacy-connorm.Sieve.v1`: the first whose best cosine reaches its
    threshold answers, the last one answers anyway.

    searches (List[str]): Of "O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C".
    thresholds (List[float]): One for each search but the last.
    """

    searches: list[str] = field(default_factory=lambda: ["D-T", "OD-T"])
    thresholds: list[float] = field(default_factory=lambda: [0.95])

    def __post_init__(self) -> None:
        for search in self.searches:
            if search not in SEARCHES:
                raise ConnormError(Errors.CN500.format(search=search, known=", ".join(SEARCHES)))
        for threshold in self.thresholds:
            if not -1 <= threshold <= 1:
                raise ConnormError(Errors.CN502.format(threshold=threshold))
        if not self.searches or len(self.thresholds) != len(self.searches) - 1:
            raise ConnormError(
                Errors.CN501.format(searches=len(self.searches), thresholds=len(self.thresholds))
            )


class Question(NamedTuple):
    """What is asked about texts, as a value that can be compared and kept.

    searches (Tuple[str, ...]): Those of a sieve.
    thresholds (Tuple[float, ...]): One for each but the last.
    top_k (int): Concepts wanted of each text.
    filter (Filter): Which concepts may be found.
    """

    searches: tuple[str, ...]
    thresholds: tuple[float, ...]
    top_k: int
    filter: Filter = Filter()

    @property
    def sieve(self) -> Sieve:
        """RETURNS (Sieve): What answers it."""
        return Sieve(list(self.searches), list(self.thresholds))


class Answer(NamedTuple):
    """What one search, or the sieve, says of one mention.

    search (str): The search that answered.
    hits (List[Hit]): At most top_k concepts, best first, each with its best text.
    """

    search: str
    hits: list[Hit]


def run_sieve(
    sieve: Sieve, index: ConceptIndex, overlay: SynonymOverlay, query: Query
) -> list[Answer]:
    """Ask the searches of a sieve in order.

    sieve (Sieve): The searches and their thresholds.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): What was added to it and removed from it since it was built.
    query (Query): b mentions.
    RETURNS (List[Answer]): b answers.
    """
    answers: dict[int, Answer] = {}
    waiting = list(range(query.vectors.shape[0]))
    for search, threshold in zip(sieve.searches, [*sieve.thresholds, None], strict=True):
        asked = query.only(waiting)
        found = run_search(search, index, overlay, asked, threshold=threshold) if waiting else []
        for place, hits in zip(waiting, found, strict=True):
            if answers_at(hits[0].score if hits else None, threshold):
                answers[place] = Answer(search, hits)
        waiting = [place for place in waiting if place not in answers]
    return [answers[place] for place in range(len(answers))]


def answers_at(score: float | None, threshold: float | None) -> bool:
    """RETURNS (bool): Whether a search answers: its best cosine, if any, reaches its threshold;
    without a threshold it always does.
    """
    return threshold is None or (score is not None and score >= threshold)


def name_candidates(
    answers: Iterable[Answer], index: ConceptIndex, searched: Iterable[str]
) -> list[list[Candidate]]:
    """Read the ids, names and texts of hits from the index, all at once.

    answers (Iterable[Answer]): b answers.
    index (ConceptIndex): The index that gave them.
    searched (Iterable[str]): The b texts that were looked up.
    RETURNS (List[List[Candidate]]): b lists of candidates.
    """
    answers = list(answers)
    hits = [hit for answer in answers for hit in answer.hits]
    labels = index.store.labels(hit.concept for hit in hits)
    texts = index.store.texts(hit.member for hit in hits if hit.member >= 0)
    return [
        [
            Candidate(
                *labels[hit.concept],
                score=hit.score,
                text=texts.get(hit.member) or hit.text or labels[hit.concept][1],
                search=answer.search,
                searched=text,
                dense=hit.parts and hit.parts[0],
                lexical=hit.parts and hit.parts[1],
            )
            for hit in answer.hits
        ]
        for answer, text in zip(answers, searched, strict=True)
    ]
