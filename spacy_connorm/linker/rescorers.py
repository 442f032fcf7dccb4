"""Change scores after a search: names in other words rise, names with extra words fall."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from math import ceil
from typing import Protocol

import numpy as np

from ..encoders.raw import Raw
from ..index.concept_index import ConceptIndex
from ..index.filter import AllowedConcepts
from ..index.hits import DIGITS, Hit, IndexTexts, best_hits, rounded, with_parts
from ..index.overlay import SynonymOverlay
from ..index.search import Search
from ..index.vectors.hybrid import HybridVectors
from ..index.word_bags import Rewritten, rewrite
from ..text.bag_hashes import hash_bag
from ..text.cleaning import are_opposite, has_sign
from ..text.words import Words


@dataclass
class SearchBatch:
    """Texts that are searched together.

    texts (Sequence[str]): b cleaned texts.
    rows (Ints1d): int64 (b,): their rows in the index; -1 for texts that are not in it, or that no
        longer denote a concept.
    vectors (Raw): (b, width): the vectors to compare.
    index (ConceptIndex): The index to search.
    overlay (SynonymOverlay): The synonyms added to it and removed from it.
    top_k (int): The number of concepts wanted for each text.
    allowed (Optional[AllowedConcepts]): The concepts that may be found; all if None.
    depth (int): The number of concepts to search for: more than `top_k` if a rescorer may lower
        scores.
    may_rise (np.ndarray): bool (b,): texts whose scores a rescorer may raise, so a low best score
        does not end their search.
    same_meaning (Dict[int, Set[int]]): The members of the index that say the same as a text in
        other words, so that none of their words is extra, by the text's position.
    """

    texts: Sequence[str]
    rows: np.ndarray
    vectors: Raw
    index: ConceptIndex
    overlay: SynonymOverlay
    top_k: int
    allowed: AllowedConcepts | None
    depth: int
    may_rise: np.ndarray
    same_meaning: dict[int, set[int]] = field(default_factory=dict)


class Rescorer(Protocol):
    """Changes the scores of what a search found. To add one, write a file, a line in
    `retriever.RESCORERS`, and a setting for its weight.
    """

    def __init__(self, batch: SearchBatch, weight: float) -> None:
        """Prepare for all searches of a batch.

        batch (SearchBatch): The texts.
        weight (float): The value of its setting, over 0.
        """

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """Change scores.

        search (Search): The search.
        places (Sequence[int]): The positions in the batch of the n texts that were searched.
        found (List[List[Hit]]): What it found for each, best first.
        RETURNS (List[List[Hit]]): At most `batch.depth` hits for each, in their new order.
        """


# The number of concepts to find for a mention before scores are lowered.
_MIN_FOUND = 25
# Words that share this many first letters, and this share of the longer word, count as forms of the
# same word: "hypertension" and "hypertensive".
_LETTERS = 4
_SHARE = 0.6


class ExtraWords:
    """A `Rescorer` that lowers the scores of names with words that the mention lacks. Mentions that
    are in the index are left alone, since their own name comes first anyway.
    """

    def __init__(self, batch: SearchBatch, weight: float) -> None:
        """Prepare for all searches of a batch.

        batch (SearchBatch): The mentions.
        weight (float): How much a name without any word of the mention loses.
        """
        batch.depth = max(batch.depth, _MIN_FOUND)
        self._batch = batch
        self._weight = weight

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """Lower scores; see `Rescorer`.

        RETURNS (List[List[Hit]]): The hits in their new order.
        """
        if search.representation != "T":
            return found
        is_new = (self._batch.rows[places] < 0).tolist()
        texts = self._batch.index.store.texts(
            [hit.member for hits in compress(found, is_new) for hit in hits if hit.member >= 0]
        )
        return [
            self._lowered(place, hits, texts) if new else hits
            for place, hits, new in zip(places, found, is_new, strict=True)
        ]

    def _lowered(self, place: int, hits: Sequence[Hit], texts: Mapping[int, str]) -> list[Hit]:
        mention, spared = self._batch.texts[place], self._batch.same_meaning.get(place, ())
        lowered = []
        for distance, rarity, rank, concept, item, member, text, parts in hits:
            name = texts.get(member) or text
            if member not in spared:
                extra = extra_share(mention, name, self._batch.index.words)
                distance = round(distance + self._weight * extra, DIGITS)
            lowered.append(Hit(distance, rarity, rank, concept, item, member, name, parts))
        return best_hits(lowered, self._batch.depth)


def extra_share(mention: str, name: str, reader: Words) -> float:
    """Compute the share of a name's words that a mention lacks.

    mention (str): The text of a mention.
    name (str): A name that was found for it.
    reader (Words): Reads the words of their language.
    RETURNS (float): The share of words in the name that are not forms of any word in the mention, 0
        to 1.
    """
    words = reader.known_bag(name)
    if not words:
        return 0.0
    own, extra = _by_first_letters(reader.known_bag(mention)), 0
    for word in words:
        alike = own.get(word[:_LETTERS])
        if alike is None or (word not in alike and not _has_form(word, alike)):
            extra += 1
    return extra / len(words)


@lru_cache(maxsize=1024)
def _by_first_letters(bag: tuple[str, ...]) -> dict[str, list[str]]:
    """Group the words of a mention by their first letters, so that most words of a name are
    excluded at once.
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


# Rewritings whose substitutions are less certain than this are ignored.
_MIN_CERTAINTY = 0.3


class RewrittenWords:
    """A `Rescorer` that raises the scores of names that express a mention in other words. Mentions
    that are in the index are left alone.
    """

    def __init__(self, batch: SearchBatch, weight: float) -> None:
        """Prepare for all searches of a batch.

        batch (SearchBatch): The mentions.
        weight (float): How far certain substitutions raise a cosine towards 1, 0 to 1.
        """
        self._batch = batch
        self._names: dict[int, Rewritten] = {}
        index = batch.index
        places = np.flatnonzero(batch.rows < 0).tolist()
        found = rewrite(
            list(map(index.words.known_bag, map(batch.texts.__getitem__, places))),
            index.word_bags,
            index.words,
            index.rewriting,
            min_certainty=_MIN_CERTAINTY,
        )
        for place, names in zip(places, found, strict=True):
            if len(names.rows) and has_sign(batch.texts[place]):
                names = _without_opposites(batch.texts[place], names, index)
            if len(names.rows):
                self._names[place] = names._replace(certainty=weight * names.certainty)
                batch.may_rise[place] = True
                batch.same_meaning[place] = set(index.members.of_rows(names.rows).tolist())

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """Raise scores; see `Rescorer`.

        RETURNS (List[List[Hit]]): The hits in their new order.
        """
        known = [place for place in places if place in self._names]
        if search.representation != "T" or not known:
            return found
        raised = _score_names(self._batch, search, {place: self._names[place] for place in known})
        return _with_raised(found, places, raised, self._batch.depth)


def _without_opposites(text: str, names: Rewritten, index: ConceptIndex) -> Rewritten:
    """Drop names that have a minus where the text has a plus, or the reverse."""
    members = index.members.start[names.rows].tolist()
    written = index.store.texts(members)
    kept = np.array([not are_opposite(text, written[member]) for member in members])
    return Rewritten(names.rows[kept], names.certainty[kept])


# A text of at most so many letters with a capital behind the first is a short form.
_MOST_LETTERS = 5


class SameWords:
    """A `Rescorer` that raises names with the mention's words to the best of them, whatever their
    inflection, case and spelling. Of equal names a preferred one comes first ("lungs" is the lung,
    not the pair of lungs), then the mention itself ("amphetamine" is not the amphetamines), and
    then that of the concept above the others.
    """

    def __init__(self, batch: SearchBatch, weight: float) -> None:
        """Prepare for all searches of a batch.

        batch (SearchBatch): The mentions.
        weight (float): How far cosines are raised towards the best one, 0 to 1.
        """
        self._batch = batch
        self._weight = weight
        bags = map(batch.index.words.known_bag, batch.texts)
        hashes = np.fromiter(map(hash_bag, bags), dtype="uint64")
        # Nothing is certain beyond the cosines.
        self._names = {
            place: Rewritten(kept, np.zeros(len(kept)))
            for place, rows in enumerate(batch.index.word_bags.rows_of(hashes))
            if len(rows)
            and len(kept := _same_words(batch.texts[place], rows.astype("int64"), batch.index))
        }

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """Raise scores; see `Rescorer`.

        RETURNS (List[List[Hit]]): The hits in their new order.
        """
        names = {place: self._names[place] for place in places if place in self._names}
        if search.representation != "T" or not names:
            return found
        first, _ = self._batch.index.row_ranges[search.target]
        own = _score_names(self._batch, search, names)
        raised = {
            place: self._raised(place, own[place], hits, {*(names[place].rows - first).tolist()})
            for place, hits in zip(places, found, strict=True)
            if own.get(place)
        }
        return _with_raised(found, places, raised, self._batch.depth)

    def _raised(self, place: int, own: list[Hit], found: list[Hit], items: set[int]) -> list[Hit]:
        """Raise the hits of names with the mention's words, which other rescorers may have raised.

        RETURNS (List[Hit]): The hits in their new order.
        """
        # Texts that users added have items of their own, and are no members.
        known = (hit for hit in found if hit.member >= 0 and hit.item in items)
        best = min(hit.distance for hit in (*own, *known))
        raised = (
            hit._replace(
                distance=round(hit.distance + self._weight * (best - hit.distance), DIGITS)
            )
            for hit in own
        )
        return _general_first(sorted(raised), self._batch.texts[place], self._batch.index)


def _same_words(text: str, rows: np.ndarray, index: ConceptIndex) -> np.ndarray:
    """Choose among the rows with a mention's bag of words.

    RETURNS (Ints1d): int64: the rows that have its words in its order and no other sign; a short
        form must be the same letters. Empty if all of them denote one concept.
    """
    members = index.members.start[rows]
    concepts = index.members.concept[index.members.of_rows(rows)]
    if (concepts == concepts[0]).all():
        return rows[:0]
    reader = index.words
    names, words = index.store.texts(members.tolist()), reader.normalized(text)
    kept = [
        name == text
        or (
            reader.normalized(reader.orthography.restore_word_order(name)) == words
            and not (_is_short(name) or _is_short(text) or are_opposite(text, name))
        )
        for name in map(names.__getitem__, members.tolist())
    ]
    return rows[kept]


def _is_short(text: str) -> bool:
    return len(text) <= _MOST_LETTERS and not text[1:].islower()


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
        if all(hit.concept in index.store.ancestors(each) for each in concepts - {hit.concept})
    )
    first = best[0] if len(best) == 1 else next(above, None)
    if first is None:
        return hits
    rank = min(each.rank for each in tied) - 1
    return [first._replace(rank=rank), *(hit for hit in hits if hit is not first)]


def _score_names(
    batch: SearchBatch, search: Search, names: Mapping[int, Rewritten]
) -> dict[int, list[Hit]]:
    """Find the concepts that some names of the index denote, with their cosines raised by how
    certain the names are.

    names (Mapping[int, Rewritten]): Names by the position of a mention in the batch; those that
        the search does not look at are ignored.
    RETURNS (Dict[int, List[Hit]]): The hits by position, best first.
    """
    texts = IndexTexts(search, batch.index, batch.overlay, batch.allowed)
    vectors, queries = texts.searcher.vectors, batch.vectors[list(names)]
    rows, certainty = map(np.concatenate, zip(*names.values(), strict=True))
    items = rows - batch.index.row_ranges[search.target][0]
    asked = np.repeat(np.arange(len(names)), [len(each.rows) for each in names.values()])
    inside = (items >= 0) & (items < len(vectors))
    if not inside.any():
        return {place: [] for place in names}
    asked, items, certainty = asked[inside], items[inside], certainty[inside]
    cosines = vectors.pairs(queries, asked, items)
    scores = rounded((cosines + certainty * (1 - cosines)).astype("float32"))
    hits = texts.hits(len(names), asked, items, scores, batch.depth)
    if isinstance(vectors, HybridVectors):
        hits = with_parts(hits, vectors, queries)
    return dict(zip(names, hits, strict=True))


def _with_raised(
    found: list[list[Hit]],
    places: Sequence[int],
    raised: Mapping[int, list[Hit]],
    depth: int,
) -> list[list[Hit]]:
    return [
        best_hits((*hits, *raised[place]), depth) if place in raised else hits
        for place, hits in zip(places, found, strict=True)
    ]


# The rescorers in the order in which they run, by the setting of their weight.
RESCORERS: Mapping[str, type[Rescorer]] = {
    "rewriting_weight": RewrittenWords,
    "extra_words_weight": ExtraWords,
    "same_words_weight": SameWords,
}
