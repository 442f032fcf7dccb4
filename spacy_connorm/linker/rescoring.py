"""Change scores after a search: names in other words rise, names with others fall."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import ceil
from typing import ClassVar

import numpy as np

from ..index.concept_index import ConceptIndex
from ..index.hits import DIGITS, Hit, IndexTexts, best_hits, rounded, with_parts
from ..index.search import Search
from ..index.vectors.hybrid import HybridVectors
from ..index.word_bags import Rewritten
from ..text.opposites import are_contrary, opposites_of
from .batch import SearchBatch


@dataclass(frozen=True, eq=False)
class SearchResults:
    """What a search found for some texts of a batch.

    batch (SearchBatch): The texts.
    search (Search): The search.
    places (Sequence[int]): The positions in the batch of the n texts that were searched.
    hits (List[List[Hit]]): The hits for each of them, best first.
    top_k (int): The maximum number of hits for each.
    """

    batch: SearchBatch
    search: Search
    places: Sequence[int]
    hits: list[list[Hit]]
    top_k: int

    def with_raised(self, raised: Mapping[int, list[Hit]]) -> list[list[Hit]]:
        """raised (Mapping[int, List[Hit]]): Hits with higher scores, by positions in the batch.
        RETURNS (List[List[Hit]]): The best hits for each text.
        """
        return [
            best_hits((*hits, *raised[place]), self.top_k) if place in raised else hits
            for place, hits in zip(self.places, self.hits, strict=True)
        ]


@dataclass(frozen=True)
class Rescorer(ABC):
    """Changes the scores of what a search found, and says what it needs of the search. To add one,
    write a class, and a line in `COMPARE_WORDS`.

    depth (int): The number of concepts to find for it, even if fewer are wanted. For a text of the
        index, only those that are wanted are found: it must leave their scores alone.
    raises_other_words (bool): Whether it raises scores of names that say the same as a text in
        other words, so that a low best score does not end the search of such a text.
    """

    depth: ClassVar[int] = 0
    raises_other_words: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, results: SearchResults) -> list[list[Hit]]:
        """Change scores.

        results (SearchResults): What a search of names found for n texts.
        RETURNS (List[List[Hit]]): The hits of each in their new order.
        """


@dataclass(frozen=True)
class RewrittenWords(Rescorer):
    """Raises the scores of names that express a mention in other words: with the noun of an
    adjective, or by a table of substitutions. Mentions that are in the index are left alone.

    weight (float): How far certain substitutions raise a cosine towards 1.
    """

    weight: float = 1.0
    raises_other_words = True

    def __call__(self, results: SearchResults) -> list[list[Hit]]:
        """Raise scores; see `Rescorer`.

        RETURNS (List[List[Hit]]): The hits in their new order.
        """
        raised = _score_names(results, results.batch.in_other_words, self.weight)
        return results.with_raised(raised) if raised else results.hits


# Words that share this many first letters, and this share of the longer word, count as forms of the
# same word: "hypertension" and "hypertensive".
_LETTERS = 4
_SHARE = 0.6


@dataclass(frozen=True)
class OtherWords(Rescorer):
    """Lowers the scores of names with words that the mention lacks ("kidney problems" are not a
    tubular disorder), and leaves nothing of those of names that say the opposite or have another
    number ("type 2" is not "type 1"): in BC5CDR's dev part, none of 82 first candidates with
    another number is right. Mentions that are in the index are left alone, since their own name
    comes first anyway, and so are names that say the same in other words.

    weight (float): How much a name without any word of the mention loses. Chosen on dev data, see
        docs/benchmarks/ontology_alone.md.
    """

    weight: float = 0.2
    depth = 25

    def __call__(self, results: SearchResults) -> list[list[Hit]]:
        """Lower scores; see `Rescorer`.

        RETURNS (List[List[Hit]]): The hits in their new order.
        """
        batch, words = results.batch, results.batch.index.words
        opposites = opposites_of(words.language.code)
        is_new = (batch.rows[results.places] < 0).tolist()
        members = {
            hit.member: None
            for hits in compress(results.hits, is_new)
            for hit in hits
            if hit.member >= 0
        }
        bags = dict(zip(members, batch.index.name_words.of([*members]), strict=True))
        rescored = []
        for place, hits, new in zip(results.places, results.hits, is_new, strict=True):
            if not new:
                rescored.append(hits)
                continue
            names = batch.in_other_words.get(place)
            spared = () if names is None else batch.index.members.of_rows(names.rows).tolist()
            bag = words.known_bag(batch.texts[place])
            mention, stated = by_first_letters(bag), opposites.stated(bag)
            lowered = []
            for hit in hits:
                if hit.member in spared:
                    lowered.append(hit)
                    continue
                # Texts that users added are not members.
                name = bags.get(hit.member) or words.known_bag(hit.text)
                lost = self.weight * extra_share(mention, name)
                others = opposites.stated(tuple(name)) if stated else ()
                if others and are_contrary(stated, others):
                    lost = max(lost, -hit.distance)
                distance = round(hit.distance + lost, DIGITS)
                lowered.append(Hit(distance, *hit[1:]) if lost else hit)
            rescored.append(best_hits(lowered, results.top_k))
        return rescored


def extra_share(mention: Mapping[str, Collection[str]], name: Sequence[str]) -> float:
    """Compute the share of a name's words that a mention lacks.

    mention (Mapping[str, Collection[str]]): The words of a mention, from `by_first_letters`.
    name (Sequence[str]): The words of a name that was found for it.
    RETURNS (float): The share of words in the name that are not forms of any word in the mention, 0
        to 1.
    """
    extra = 0
    for word in name:
        alike = mention.get(word[:_LETTERS])
        if alike is None or (word not in alike and not _has_form(word, alike)):
            extra += 1
    return extra / len(name) if extra else 0.0


def by_first_letters(bag: Iterable[str]) -> dict[str, list[str]]:
    """Group the words of a mention by their first letters, so that most words of a name are
    excluded at once.

    bag (Iterable[str]): The words.
    RETURNS (Dict[str, List[str]]): The words by their first letters.
    """
    words: dict[str, list[str]] = {}
    for word in bag:
        words.setdefault(word[:_LETTERS], []).append(word)
    return words


def _has_form(word: str, others: Iterable[str]) -> bool:
    for other in others:
        needed = max(_LETTERS, ceil(_SHARE * max(len(word), len(other))))
        if word[:needed] == other[:needed] and needed <= min(len(word), len(other)):
            return True
    return False


class SameWords(Rescorer):
    """Raises names with the mention's words to the best of them, whatever their inflection, case
    and spelling. Of equal names a preferred one comes first ("lungs" is the lung, not the pair of
    lungs), then the mention itself ("amphetamine" is not the amphetamines), and then that of the
    concept above the others.
    """

    def __call__(self, results: SearchResults) -> list[list[Hit]]:
        """Raise scores; see `Rescorer`.

        RETURNS (List[List[Hit]]): The hits in their new order.
        """
        batch, names = results.batch, results.batch.in_same_words
        first, _ = batch.index.row_ranges[results.search.target]
        alike = _score_names(results, names)
        raised = {
            place: self._raised(
                batch, place, alike[place], hits, {*(names[place].rows - first).tolist()}
            )
            for place, hits in zip(results.places, results.hits, strict=True)
            if alike.get(place)
        }
        return results.with_raised(raised) if raised else results.hits

    def _raised(
        self, batch: SearchBatch, place: int, alike: list[Hit], hits: list[Hit], items: set[int]
    ) -> list[Hit]:
        """Raise the hits of names with the mention's words, which other rescorers may have raised.

        RETURNS (List[Hit]): The hits in their new order.
        """
        # Texts that users added have items of their own, and are not members.
        known = (hit for hit in hits if hit.member >= 0 and hit.item in items)
        best = min(hit.distance for hit in (*alike, *known))
        raised = (hit._replace(distance=best) for hit in alike)
        return _general_first(sorted(raised), batch.texts[place], batch.index)


def _general_first(hits: list[Hit], text: str, index: ConceptIndex) -> list[Hit]:
    """Put first, of the hits with the best score, the only one with a preferred name; of several or
    none, the only one whose name is the mention itself, unless that is a plural ("ear anomalies"
    are the anomalies of the ear, also if a narrower concept has just this synonym); otherwise the
    concept above all others.

    RETURNS (List[Hit]): The hits in their new order.
    """
    tied = [hit for hit in hits if hit[:2] == hits[0][:2]]
    best = [hit for hit in tied if hit.rank == 0]
    if not best and index.words.orthography.drop_plurals(text) == text:
        best = tied
    if len(best) > 1:
        names = index.store.texts([hit.member for hit in best])
        best = [hit for hit in best if names[hit.member].lower() == text.lower()]
    concepts = {hit.concept for hit in tied}
    above = (
        hit
        for hit in tied
        if all(
            hit.concept in index.store.ancestors(concept) for concept in concepts - {hit.concept}
        )
    )
    first = best[0] if len(best) == 1 else next(above, None)
    if first is None:
        return hits
    rank = min(hit.rank for hit in tied) - 1
    return [first._replace(rank=rank), *(hit for hit in hits if hit is not first)]


def _score_names(
    results: SearchResults, names: Mapping[int, Rewritten], weight: float = 0.0
) -> dict[int, list[Hit]]:
    """Find the concepts that some names of the index denote, with their cosines raised by how
    certain the names are.

    names (Mapping[int, Rewritten]): Names by the position of a mention in the batch; those that
        the search does not look at are ignored.
    weight (float): How far certain names are raised towards 1.
    RETURNS (Dict[int, List[Hit]]): The hits by position, best first; only for the texts that were
        searched and have such names.
    """
    names = {place: names[place] for place in results.places if place in names}
    if not names:
        return {}
    batch, search = results.batch, results.search
    texts = IndexTexts(search, batch.index, batch.overlay, batch.allowed)
    vectors = texts.searcher.vectors
    rows, certainty = map(np.concatenate, zip(*names.values(), strict=True))
    items = rows - batch.index.row_ranges[search.target][0]
    asked = np.repeat(np.arange(len(names)), [len(group.rows) for group in names.values()])
    inside = (items >= 0) & (items < len(vectors))
    if not inside.any():
        return {}
    asked, items, certainty = asked[inside], items[inside], weight * certainty[inside]
    places = np.array([*names])
    cosines = vectors.pairs(batch.vectors, places[asked], items)
    scores = rounded((cosines + certainty * (1 - cosines)).astype("float32"))
    hits = texts.hits(len(names), asked, items, scores, results.top_k)
    if isinstance(vectors, HybridVectors):
        hits = with_parts(hits, vectors, batch.vectors[places])
    return dict(zip(names, hits, strict=True))


# What compares the words of names with those of a mention, in the order in which it runs.
COMPARE_WORDS: tuple[Rescorer, ...] = (RewrittenWords(), OtherWords(), SameWords())
