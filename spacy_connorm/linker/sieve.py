"""Sieves: ordered searches (Xu & Bethard 2021, section 3.2.1; design section 5)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, TypeVar

from ..concepts import Candidate
from ..errors import ConnormError, Errors, refuse, require_positive
from ..index.concept_index import ConceptIndex
from ..index.filters import Filter
from ..index.overlay import SynonymOverlay
from ..index.query import Query, run_search
from ..index.ranking import Hit
from ..index.rewriting import Rewritten
from ..index.search import Search
from .extra_words import lower_scores

Found = TypeVar("Found")


@dataclass(frozen=True)
class Sieve:
    """Searches in order, `spacy-connorm.Sieve.v1`: the first whose best cosine reaches its
    threshold answers; the last one always answers.

    searches (Sequence[str]): Of "O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"; kept as a tuple.
    thresholds (Sequence[float]): One for each search but the last; kept as a tuple.
    steps (Tuple[Tuple[Search, float], ...]): Each search with the cosine it needs to answer; the
        last one needs none.
    """

    searches: Sequence[str] = ("D-T", "OD-T")
    thresholds: Sequence[float] = (0.98,)
    steps: tuple[tuple[Search, float], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN118 for an unknown search, CN501 for another number of
        thresholds, CN006 for one that is no cosine.
        """
        searches, thresholds = tuple(map(Search, self.searches)), tuple(self.thresholds)
        for threshold in thresholds:
            if not -1 <= threshold <= 1:
                refuse("thresholds", threshold, "cosines, from -1 to 1")
        if not searches or len(thresholds) != len(searches) - 1:
            raise ConnormError(
                Errors.CN501.format(searches=len(searches), thresholds=len(thresholds))
            )
        # Configs give lists; as tuples they can be hashed.
        object.__setattr__(self, "searches", searches)
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "steps", tuple(zip(searches, (*thresholds, -inf), strict=True)))

    def sift(
        self,
        count: int,
        ask: Callable[[Search, float, list[int]], Sequence[Found]],
        score: Callable[[Found], float],
    ) -> list[tuple[int, Found]]:
        """Ask the searches in order, each only for the mentions that are not answered yet.

        count (int): How many mentions there are.
        ask (Callable): A search, the cosine it needs, and the places of some mentions to what the
            search finds for each of them.
        score (Callable): The best cosine of what was found; -inf if nothing was.
        RETURNS (List[Tuple[int, Found]]): For each mention the number of the step that answers, and
            what it found.
        """
        answers: dict[int, tuple[int, Found]] = {}
        waiting = list(range(count))
        for number, (search, threshold) in enumerate(self.steps):
            if not waiting:
                break
            for place, found in zip(waiting, ask(search, threshold, waiting), strict=True):
                if score(found) >= threshold:
                    answers[place] = number, found
            waiting = [place for place in waiting if place not in answers]
        return [answers[place] for place in range(count)]

    def choose(
        self, found: Mapping[str, Sequence[Found]], score: Callable[[Found], float]
    ) -> list[Found]:
        """Answer mentions from what each search found alone.

        found (Mapping[str, Sequence[Found]]): By search, what it found for b mentions.
        score (Callable): As in `sift`.
        RETURNS (List[Found]): b answers.
        """

        def ask(search: Search, threshold: float, places: list[int]) -> list[Found]:
            return [found[search][place] for place in places]

        count = len(found[self.searches[0]])
        return [each for _, each in self.sift(count, ask, score)]


class Question(NamedTuple):
    """What is asked about texts, as a value that can be compared.

    sieve (Sieve): The searches that answer.
    top_k (int): How many concepts each text wants.
    filter (Filter): Which concepts may be found.
    """

    sieve: Sieve
    top_k: int
    filter: Filter = Filter()


def make_question(
    sieve: Sieve, *, top_k: int, types: Sequence[str] = (), branches: Sequence[str] = ()
) -> Question:
    """Make a question.

    sieve (Sieve): The searches that answer.
    top_k (int): How many concepts each text wants.
    types (Sequence[str]): Find only concepts of these semantic types; all if empty.
    branches (Sequence[str]): Find only concepts at or below these; all if empty.
    RETURNS (Question): The question.
    RAISES (ConnormError): CN006 for a `top_k` under 1.
    """
    require_positive("top_k", top_k)
    return Question(sieve, top_k, Filter.of(types, branches))


class Answer(NamedTuple):
    """What a search finds for a mention.

    search (Search): The search.
    hits (List[Hit]): At most top_k concepts, best first, each with its best text.
    """

    search: Search
    hits: list[Hit]


class ExtraWordsPenalty(NamedTuple):
    """Lowers the scores of names by their words that mentions lack, see `extra_words`.

    mentions (Sequence[str]): b texts that were searched; empty for those to leave alone.
    weight (float): How much a name without any word of the mention loses.
    top_k (int): How many hits to keep.
    rewritten (Sequence[Rewritten]): Names that say the same as each mention in other words, and
        keep their scores; empty if there are none.
    """

    mentions: Sequence[str]
    weight: float
    top_k: int
    rewritten: Sequence[Rewritten] = ()

    def __call__(
        self, places: list[int], found: list[list[Hit]], index: ConceptIndex
    ) -> list[list[Hit]]:
        """RETURNS (List[List[Hit]]): The best hits of mentions in their new order."""
        members = (hit.member for hits in found for hit in hits if hit.member >= 0)
        texts = index.store.texts(members)
        lowered = []
        for place, hits in zip(places, found, strict=True):
            mention = self.mentions[place]
            if not mention:
                lowered.append(hits[: self.top_k])
                continue
            names = [texts.get(hit.member) or hit.text for hit in hits]
            lowered.append(
                lower_scores(
                    hits,
                    names,
                    mention,
                    weight=self.weight,
                    top_k=self.top_k,
                    spared=self._spared(place, index),
                )
            )
        return lowered

    def _spared(self, place: int, index: ConceptIndex) -> set[int]:
        if not self.rewritten:
            return set()
        return set(index.members.of_rows(self.rewritten[place].rows).tolist())


def run_sieve(
    sieve: Sieve,
    index: ConceptIndex,
    overlay: SynonymOverlay,
    query: Query,
    penalty: ExtraWordsPenalty | None = None,
) -> list[Answer]:
    """Answer mentions with a sieve.

    sieve (Sieve): The searches and their thresholds.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): What was added to it and removed from it.
    query (Query): b mentions.
    penalty (Optional[ExtraWordsPenalty]): Of searches over texts.
    RETURNS (List[Answer]): b answers.
    RAISES (ConnormError): As `run_search`.
    """

    def ask(search: Search, threshold: float, places: list[int]) -> list[list[Hit]]:
        found = run_search(search, index, overlay, query.only(places), threshold=threshold)
        if penalty is None:
            return found
        if search.representation == "T":
            return penalty(places, found, index)
        return [hits[: penalty.top_k] for hits in found]

    found = sieve.sift(query.vectors.shape[0], ask, best_cosine)
    return [Answer(sieve.steps[number][0], hits) for number, hits in found]


def best_cosine(found: Sequence[Hit] | Sequence[Candidate]) -> float:
    """RETURNS (float): The cosine of the first one; -inf if there is none."""
    return found[0].score if found else -inf


def name_candidates(
    answers: Iterable[Answer], index: ConceptIndex, searched: Iterable[str]
) -> list[list[Candidate]]:
    """Read the ids, names and texts of hits from the index, all at once.

    answers (Iterable[Answer]): b answers.
    index (ConceptIndex): The index that gave them.
    searched (Iterable[str]): The b texts that were searched.
    RETURNS (List[List[Candidate]]): b lists of candidates.
    """
    answers = list(answers)
    hits = [hit for answer in answers for hit in answer.hits]
    labels = index.store.labels(hit.concept for hit in hits)
    texts = index.store.texts(hit.member for hit in hits if hit.member >= 0 and not hit.text)
    return [
        [
            Candidate(
                *labels[hit.concept],
                score=hit.score,
                text=hit.text or texts.get(hit.member) or labels[hit.concept][1],
                search=search,
                searched=text,
                dense=hit.parts and hit.parts[0],
                lexical=hit.parts and hit.parts[1],
            )
            for hit in answer.hits
        ]
        for answer, search, text in zip(
            answers, [str(answer.search) for answer in answers], searched, strict=True
        )
    ]
