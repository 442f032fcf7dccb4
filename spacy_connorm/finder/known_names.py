"""All names of an index and of the synonyms added to it, found by their words."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..index.concept_index import TARGETS, AllowedConcepts, ConceptIndex, D
from ..index.overlay import SynonymOverlay
from ..index.store import Cache
from ..index.word_bags import ENGLISH_TABLE, WordBags
from ..text.word_bags import normalized_words

_CACHED = 100_000


class KnownName(NamedTuple):
    """A name and a concept that it denotes.

    text (str): As written.
    concept (int): The concept's number in the index.
    times (int): How often D gives the text this concept; 0 if only O does.
    rank (int): 0 for the concept's preferred name, 1 for another name, 2 for a synonym that is not
        exact.
    """

    text: str
    concept: int
    times: int
    rank: int = 1


class KnownNames:
    """Finds names by the hashes of their words, see `index.word_bags.WordBags`. It never changes:
    other synonyms need another one.
    """

    def __init__(
        self,
        index: ConceptIndex,
        overlay: SynonymOverlay,
        allowed: AllowedConcepts | None = None,
        target: str = "OD",
        *,
        inexact: bool = True,
    ) -> None:
        """Store the parts.

        index (ConceptIndex): The index.
        overlay (SynonymOverlay): Synonyms added and removed since it was built.
        allowed (Optional[AllowedConcepts]): Leave out the names of other concepts.
        target (str): Whose names: "O", "D" or "OD". Added synonyms belong to D.
        inexact (bool): Whether synonyms of O that are not exact are names.
        """
        self.index = index
        self.overlay = overlay
        self._bags = index.word_bags
        self._allowed = allowed
        self._target = TARGETS[target]
        self._inexact = inexact
        self._names: Cache[int, tuple[KnownName, ...]] = Cache(_CACHED)

    @cached_property
    def longest(self) -> int:
        """RETURNS (int): How many words the longest name has."""
        sizes = [int(bags.sizes[-1]) for bags in (self._bags, self._added) if len(bags.sizes)]
        return max(sizes, default=0)

    @cached_property
    def _added(self) -> WordBags:
        known = self.overlay.synonyms if self._target & D else ()
        texts = [synonym.text for synonym in known]
        return WordBags.from_texts(texts, np.arange(len(texts)))

    def contain(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): bool (b,): whether a name has the bag of each hash."""
        return self._bags.contain(values) | self._added.contain(values)

    def have_words(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): bool (b,): whether some name has the word of each hash."""
        return self._bags.have_words(values) | self._added.have_words(values)

    def substitutions(
        self, values: np.ndarray, min_certainty: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the single words of names that may stand in place of words.

        values (np.ndarray): uint64 (b,): the hashes of words, each once.
        min_certainty (float): Leave out what is less certain.
        RETURNS (Tuple[Ints1d, np.ndarray, Floats1d]): s numbers of these words, int64, what each
            substitution adds to their hash, uint64, and its certainty.
        """
        tables = [ENGLISH_TABLE, *filter(None, [self.index.rewriting])]
        found = [each.of_words(values, min_certainty) for each in tables]
        which, changes, certainty = map(np.concatenate, zip(*found, strict=True))
        kept = self.have_words(values[which] + changes)
        return which[kept], changes[kept], certainty[kept]

    def names(self, value: int) -> tuple[KnownName, ...]:
        """RETURNS (Tuple[KnownName, ...]): The names whose bag has this hash."""
        return self.names_of([value])[value]

    def names_of(self, values: Iterable[int]) -> dict[int, tuple[KnownName, ...]]:
        """RETURNS (Dict[int, Tuple[KnownName, ...]]): The names of several bags by their hashes,
        read from the index at once.
        """
        return self._names.get_all(values, self._read)

    def _read(self, values: Sequence[int]) -> dict[int, tuple[KnownName, ...]]:
        found: dict[int, list[KnownName]] = {value: [] for value in values}
        hashes = np.asarray(values, dtype="uint64")
        self._add_indexed(found, hashes)
        self._add_overlaid(found, hashes)
        return {value: tuple(names) for value, names in found.items()}

    def _add_indexed(self, found: dict[int, list[KnownName]], hashes: np.ndarray) -> None:
        rows, of_bag = _with_owner(self._bags.rows_of(hashes))
        members, removed = self.index.members, self.overlay.removed
        places = members.of_rows(rows)
        sizes = members.start[rows + 1] - members.start[rows]
        columns = (
            *(places, np.repeat(rows, sizes), np.repeat(hashes[of_bag], sizes)),
            *(members.concept[places], members.count[places], members.ranks(places)),
            (members.target[places] & self._target > 0)
            & (self._inexact | (members.inexact[places] == 0)),
        )
        texts = self.index.store.texts(places.tolist())
        for place, row, value, concept, count, rank, is_known in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if is_known and (row, concept) not in removed and self._is_allowed(concept):
                found[value].append(KnownName(texts[place], concept, count, rank))

    def _add_overlaid(self, found: dict[int, list[KnownName]], hashes: np.ndarray) -> None:
        rows, of_bag = _with_owner(self._added.rows_of(hashes))
        for row, value in zip(rows.tolist(), hashes[of_bag].tolist(), strict=True):
            each = self.overlay.synonyms[row]
            if self._is_allowed(each.concept):
                name = KnownName(each.text, each.concept, self.overlay.count(each))
                found[value].append(name)

    def _is_allowed(self, concept: int) -> bool:
        return self._allowed is None or bool(self._allowed.concepts[concept])


def closest_name(text: str, names: Iterable[KnownName]) -> str:
    """Choose the name that a text has: the same letters, then the same in any case, then the same
    words in order. Of several, first what D has, then a preferred name.

    text (str): A text.
    names (Iterable[KnownName]): Names with the same words.
    RETURNS (str): The name as the index has it; empty without names.
    """
    lowered, words = text.lower(), normalized_words(text)

    def distance(name: KnownName) -> tuple:
        is_other = name.text != text, name.text.lower() != lowered
        return (*is_other, normalized_words(name.text) != words, -name.times, name.rank)

    return min(names, key=distance).text if names else ""


def _with_owner(rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (Tuple[Ints1d, Ints1d]): All rows, int64, and whose each is, by its place."""
    owners = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    return np.concatenate([np.zeros(0, dtype="int64"), *rows]), owners
