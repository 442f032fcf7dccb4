"""The names in an index and the synonyms added to it, found by their words."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from typing import NamedTuple

import numpy as np

from ..files.arrays import list_ranges
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filter import AllowedConcepts
from ..index.hash_sets import hash_pair
from ..index.overlay import SynonymOverlay
from ..index.search import D
from ..index.word_bags import WordBags, language_table
from ..text.bag_hashes import hash_bag, hash_word
from ..text.words import Words

# An inexact synonym of so many words, which no other concept has, is as good as an exact one: with
# them, F1 is 1.0 higher on the dev texts of UBERON, 0.1 lower on those of SO, and 1.3 higher on
# names held out of UBERON. With those of two words, UBERON loses 1.8.
_FEWEST_CLEAR = 3
_INEXACT = 2
_CACHED = 100_000
_MOST_WORDS = 200_000
# Follows all letters.
_AFTER_ALL = "\uffff"


class KnownName(NamedTuple):
    """A name and a concept that it denotes.

    text (str): As written.
    concept (int): The concept's number in the index.
    times (int): How often the text has this concept in D; 0 if it is only in O.
    rank (int): 0 for the concept's preferred name, 1 for another name, 2 for an inexact synonym.
    """

    text: str
    concept: int
    times: int
    rank: int = 1


@dataclass(eq=False)
class KnownNames:
    """Finds names by the hashes of their words, see `index.word_bags.WordBags`. It never changes: a
    change of synonyms needs a new one.

    index (ConceptIndex): The index.
    overlay (SynonymOverlay): Synonyms added and removed since the index was built.
    allowed (Optional[AllowedConcepts]): Leave out the names of other concepts.
    target (int): The names to find: O, D or both. Added synonyms belong to D.
    inexact (bool): Whether to find all inexact synonyms of O.
    """

    index: ConceptIndex
    overlay: SynonymOverlay
    allowed: AllowedConcepts | None
    target: int
    inexact: bool

    def __post_init__(self) -> None:
        self._names: Cache[int, tuple[KnownName, ...]] = Cache(_CACHED)

    @cached_property
    def longest(self) -> int:
        """Get the length of the longest name.

        RETURNS (int): Its number of words.
        """
        return max(self.index.word_bags.longest, self._added.longest)

    @cached_property
    def _added(self) -> WordBags:
        known = self.overlay.synonyms if self.target & D else ()
        texts = [synonym.text for synonym in known]
        return WordBags.from_texts(texts, np.arange(len(texts)), self.index.words)

    def allowed_concept(self, concept_id: str) -> int | None:
        """Find the number of a concept that may be found by its id.

        RETURNS (Optional[int]): The number; None for an unknown id, and for other concepts.
        """
        number = self.index.store.number(concept_id)
        return number if number is not None and self._is_allowed(number) else None

    def contain(self, values: np.ndarray) -> np.ndarray:
        """Check which bags of words are names.

        RETURNS (np.ndarray): bool (b,), for the hash of each bag.
        """
        bags = (self.index.word_bags.known_bags, self._added.known_bags)
        return np.logical_or(*(some.contain(values) for some in bags))

    def has(self, bag: tuple[str, ...]) -> bool:
        """Check whether a bag of words is that of a name.

        bag (Tuple[str, ...]): Normalized words.
        RETURNS (bool): True if it is.
        """
        return bool(self.contain(np.array([hash_bag(bag)], "uint64"))[0])

    def are_neighbours(self, pairs: Iterable[tuple[str, str]]) -> np.ndarray:
        """Check which words stand side by side in a name.

        pairs (Iterable[Tuple[str, str]]): p times a normalized word, and the word after it.
        RETURNS (np.ndarray): bool (p,).
        """
        hashes = np.fromiter(starmap(hash_pair, pairs), dtype="uint64")
        return self.index.word_pairs.contain(hashes)

    def bags(self) -> Iterator[tuple[int, str, Sequence[str]]]:
        """List the words of all names.

        YIELDS (Tuple[int, str, Sequence[str]]): The number of its concept, the name as written, and
            its bag of words.
        """
        members, removed = self.index.members, self.overlay.removed
        wanted = np.flatnonzero(members.target & self.target)
        rows, concepts = members.row_numbers[wanted], members.concept[wanted]
        places = wanted.tolist()
        texts, bags = self.index.store.texts(places), self.index.name_words.of(places)
        for place, row, concept, bag in zip(
            places, rows.tolist(), concepts.tolist(), bags, strict=True
        ):
            if (row, concept) not in removed and self._is_allowed(concept):
                yield concept, texts[place], bag
        for synonym in self.overlay.synonyms if self.target & D else ():
            if self._is_allowed(synonym.concept):
                yield synonym.concept, synonym.text, self.index.words.bag(synonym.text)

    @cached_property
    def sorted_words(self) -> list[str]:
        """The words of the index's names that have letters only.

        RETURNS (List[str]): In order; none if there are more than 200,000, nearly all of which are
            like others.
        """
        vocabulary = self.index.name_words.vocabulary
        if len(vocabulary) > _MOST_WORDS:
            return []
        return sorted(filter(str.isalpha, vocabulary.read(np.arange(len(vocabulary)))))

    def has_word(self, word: str) -> bool:
        """Check whether a name has a word.

        word (str): A normalized word.
        RETURNS (bool): True if one has it.
        """
        return bool(self.have_words(np.array([hash_word(word)], "uint64"))[0])

    def have_words(self, values: np.ndarray) -> np.ndarray:
        """Check which words occur in names.

        RETURNS (np.ndarray): bool (b,), for the hash of each word.
        """
        words = (self.index.word_bags.known_words, self._added.known_words)
        return np.logical_or(*(some.contain(values) for some in words))

    def substitutions(
        self, values: np.ndarray, min_certainty: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """List the words of names that can replace given words.

        values (np.ndarray): uint64 (b,): the hashes of single words or of pairs of words.
        min_certainty (float): Leave out less certain substitutions.
        RETURNS (Tuple[Ints1d, np.ndarray, Floats1d, np.ndarray]): For each of s substitutions: the
            number of the given hash, int64; what it adds to the hash, uint64; its certainty; and
            the hash of a word that must be near, uint64, 0 if it needs none.
        """
        learned = self.index.rewriting
        found = [learned.of_words(values, min_certainty)] if learned else []
        general = language_table(self.index.words).of_words(values, min_certainty)
        # Those that the ontology shows have its words.
        kept = self.have_words(values[general[0]] + general[1])
        found.append(tuple(column[kept] for column in general))
        which, changes, certainty, company = map(np.concatenate, zip(*found, strict=True))
        return which, changes, certainty, company

    def names(self, value: int) -> tuple[KnownName, ...]:
        """Find the names that have a bag of words.

        RETURNS (Tuple[KnownName, ...]): The names whose bag has this hash.
        """
        return self.names_of([value])[value]

    def names_of(self, values: Iterable[int]) -> dict[int, tuple[KnownName, ...]]:
        """Find the names of several bags of words, reading them from the index at once.

        RETURNS (Dict[int, Tuple[KnownName, ...]]): Names by the hash of their bag.
        """
        return self._names.get_all(values, self._read)

    def _read(self, values: Sequence[int]) -> dict[int, tuple[KnownName, ...]]:
        by_hash: dict[int, list[KnownName]] = {value: [] for value in values}
        hashes = np.asarray(values, dtype="uint64")
        self._add_indexed(by_hash, hashes)
        self._add_overlaid(by_hash, hashes)
        return {value: tuple(names) for value, names in by_hash.items()}

    def _add_indexed(self, by_hash: dict[int, list[KnownName]], hashes: np.ndarray) -> None:
        of_bag, rows = self.index.word_bags.rows_of(hashes)
        members, removed = self.index.members, self.overlay.removed
        which, places = list_ranges(members.start[rows], members.start[rows + 1])
        is_wanted = members.target[places] & self.target > 0
        which, places = which[is_wanted], places[is_wanted]
        of_members = (members.concept[places], members.count[places], members.ranks(places))
        columns = (places, rows[which], hashes[of_bag[which]], *of_members)
        texts = self.index.store.texts(places.tolist())
        for place, row, value, concept, count, rank in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if (row, concept) not in removed and self._is_allowed(concept):
                by_hash[value].append(KnownName(texts[place], concept, count, rank))
        if not self.inexact:
            for value, names in by_hash.items():
                by_hash[value] = self._without_inexact(names)

    def _without_inexact(self, names: list[KnownName]) -> list[KnownName]:
        """Leave out inexact synonyms, but for long ones that only one concept has: "ganglion cell
        layer" is the ganglionic layer of the retina.

        names (List[KnownName]): The names with the same words.
        RETURNS (List[KnownName]): Those to find.
        """
        exact = [name for name in names if name.rank < _INEXACT]
        if exact or len({name.concept for name in names}) != 1:
            return exact
        size = len(self.index.words.content(names[0].text))
        return names if size >= _FEWEST_CLEAR else []

    def _add_overlaid(self, by_hash: dict[int, list[KnownName]], hashes: np.ndarray) -> None:
        of_bag, rows = self._added.rows_of(hashes)
        for row, value in zip(rows.tolist(), hashes[of_bag].tolist(), strict=True):
            each = self.overlay.synonyms[row]
            if self._is_allowed(each.concept):
                name = KnownName(each.text, each.concept, self.overlay.count(each))
                by_hash[value].append(name)

    def _is_allowed(self, concept: int) -> bool:
        return self.allowed is None or bool(self.allowed.concepts[concept])


def closest_name(text: str, names: Iterable[KnownName], words: Words) -> str:
    """Choose the name that is closest to a text: first one with the same letters, then with the
    same letters in any case, then with the same words in order. If there are several, prefer those
    in D, then preferred names.

    text (str): A text.
    names (Iterable[KnownName]): Names with the same words.
    words (Words): Reads the words of their language.
    RETURNS (str): The name as written in the index; empty without names.
    """
    alike = list(names)
    for form in (str, str.lower, words.normalized):
        if len(alike) < 2:
            break
        read = form(text)
        if same := [name for name in alike if form(name.text) == read]:
            alike = same
            break
    return min(alike, key=lambda name: (-name.times, name.rank)).text if alike else ""


def words_beginning(start: str, words: Sequence[str]) -> Sequence[str]:
    """Find the words with a beginning.

    start (str): The beginning.
    words (Sequence[str]): Words in order.
    RETURNS (Sequence[str]): Those of them, in order.
    """
    return words[bisect_left(words, start) : bisect_left(words, start + _AFTER_ALL)]
