"""Sieves, ordered searches (Xu & Bethard 2021, section 3.2.1), and how one searches a batch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

import numpy as np

from ..concepts import Candidate
from ..errors import refuse
from ..index.hits import Hit, run_search
from ..index.search import Search
from .batch import SearchBatch
from .rescoring import Rescorer, SearchResults

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
                answer
                for answer, (_, threshold) in zip(answers, self.steps, strict=True)
                if score(answer) >= threshold
            )
            for answers in zip(*(found[search] for search in self.searches), strict=True)
        ]


def run_sieve(
    batch: SearchBatch, sieve: Sieve, rescorers: Sequence[Rescorer] = (), *, top_k: int
) -> dict[str, list[Candidate]]:
    """Run the searches of a sieve in order, each only for the texts without an answer so far, and
    rescore what each finds.

    batch (SearchBatch): The encoded texts.
    sieve (Sieve): The searches.
    rescorers (Sequence[Rescorer]): What changes scores after each search of names, in order.
    top_k (int): The number of concepts wanted for each text.
    RETURNS (Dict[str, List[Candidate]]): At most top_k candidates by text, best first.
    RAISES (ConnormError): CN408 for a search that the index was built without.
    """
    index, texts = batch.index, batch.texts
    depth, may_rise = top_k, np.zeros(len(texts), dtype="bool")
    for rescorer in rescorers:
        depth = max(depth, rescorer.depth)
        if rescorer.raises_other_words:
            may_rise[list(batch.in_other_words)] = True
    depths = np.where(batch.rows < 0, depth, top_k)
    answers: dict[int, tuple[Search, list[Hit]]] = {}
    waiting = list(range(len(texts)))
    for search, threshold in sieve.steps:
        if not waiting:
            break
        found: dict[int, list[Hit]] = {}
        for wanted in np.unique(depths[waiting]).tolist():
            places = [place for place in waiting if depths[place] == wanted]
            some = run_search(
                search,
                index,
                batch.overlay,
                batch.vectors if len(places) == len(texts) else batch.vectors[places],
                top_k=wanted,
                allowed=batch.allowed,
                thresholds=np.where(may_rise[places], -inf, threshold),
            )
            found |= zip(places, some, strict=True)
        hits = [found[place] for place in waiting]
        # Where nothing was found, as among annotated mentions if there are none, nothing is raised.
        for rescorer in rescorers if search.representation == "T" and any(hits) else ():
            hits = rescorer(SearchResults(batch, search, waiting, hits, depth))
        for place, group in zip(waiting, hits, strict=True):
            if (-group[0].distance if group else -inf) >= threshold:
                answers[place] = search, group[:top_k]
        waiting = [place for place in waiting if place not in answers]
    # The ids, names and texts of all hits are read from the index at once.
    all_hits = [hit for _, group in answers.values() for hit in group]
    labels = index.store.labels([hit.concept for hit in all_hits])
    names = index.store.texts([hit.member for hit in all_hits if hit.member >= 0])
    languages = index.store.languages_of(labels) if index.store.has_languages else {}
    candidates = {}
    for place, (search, group) in answers.items():
        matched = [hit.text or names.get(hit.member) or labels[hit.concept][1] for hit in group]
        candidates[texts[place]] = [
            Candidate(
                *labels[hit.concept],
                score=0.0 - hit.distance,  # never minus zero
                text=text,
                search=str(search),
                searched=texts[place],
                dense=hit.parts and hit.parts[0],
                lexical=hit.parts and hit.parts[1],
                language=languages.get(hit.concept, {}).get(text, ""),
            )
            for hit, text in zip(group, matched, strict=True)
        ]
    return candidates
