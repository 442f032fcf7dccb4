"""Texts that are searched together, and the names of the index that say the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..encoders.raw import Raw
from ..index.concept_index import ConceptIndex
from ..index.filter import AllowedConcepts
from ..index.overlay import SynonymOverlay
from ..index.word_bags import Rewritten, rewrite
from ..text.bag_hashes import hash_bags
from ..text.cleaning import are_opposite, has_sign
from ..text.short_forms import is_short_form

# Rewritings whose substitutions are less certain than this are ignored.
_MIN_CERTAINTY = 0.3
# Longer short forms may have other capitals.
_LONGEST_EXACT = 5


@dataclass(frozen=True, eq=False)
class SearchBatch:
    """Texts that are searched together.

    texts (Sequence[str]): b cleaned texts.
    rows (Ints1d): int64 (b,): their rows in the index; -1 for texts that are not in it, or that no
        longer denote a concept.
    vectors (Raw): (b, width): the vectors to compare.
    index (ConceptIndex): The index to search.
    overlay (SynonymOverlay): The synonyms added to it and removed from it.
    allowed (Optional[AllowedConcepts]): The concepts that may be found; all if None.
    """

    texts: Sequence[str]
    rows: np.ndarray
    vectors: Raw
    index: ConceptIndex
    overlay: SynonymOverlay
    allowed: AllowedConcepts | None = None

    def part(self, places: Sequence[int]) -> "SearchBatch":
        """Choose some of the texts.

        places (Sequence[int]): Their positions.
        RETURNS (SearchBatch): These texts.
        """
        texts = [self.texts[place] for place in places]
        return replace(self, texts=texts, rows=self.rows[places], vectors=self.vectors[places])

    @cached_property
    def in_other_words(self) -> dict[int, Rewritten]:
        """The names that say the same as a text in other words. Texts of the index have none.

        RETURNS (Dict[int, Rewritten]): By the text's position; only for texts that have any.
        """
        index, texts = self.index, self.texts
        places = np.flatnonzero(self.rows < 0).tolist()
        known = map(index.words.known_bag, map(texts.__getitem__, places))
        bags = list(zip(places, known, strict=True))
        # "Muscles were weak" says what "weak muscles" says, unless a name has the verb, too.
        copulas = index.words.copulas
        bags += [
            (place, tuple(word for word in bag if word not in copulas))
            for place, bag in bags
            if not copulas.isdisjoint(bag)
        ]
        rewritten = rewrite(
            [bag for _, bag in bags],
            index.word_bags,
            index.words,
            index.rewriting,
            min_certainty=_MIN_CERTAINTY,
        )
        names_of: dict[int, Rewritten] = {}
        for (place, _), names in zip(bags, rewritten, strict=True):
            if place in names_of:
                continue
            if len(names.rows) and has_sign(texts[place]):
                names = _without_opposites(texts[place], names, index)
            if len(names.rows):
                names_of[place] = names
        return names_of

    @cached_property
    def in_same_words(self) -> dict[int, Rewritten]:
        """The names with the words of a text, whatever their inflection, case and spelling, if they
        denote several concepts.

        RETURNS (Dict[int, Rewritten]): By the text's position; only for texts that have any. None
            of them is certain.
        """
        hashes = hash_bags(map(self.index.words.known_bag, self.texts))
        names_of: dict[int, Rewritten] = {}
        places, all_rows = self.index.word_bags.rows_of(hashes)
        for place in np.unique(places).tolist():
            rows = _same_words(self.texts[place], all_rows[places == place], self.index)
            if len(rows):
                names_of[place] = Rewritten(rows, np.zeros(len(rows)))
        return names_of


def _without_opposites(text: str, names: Rewritten, index: ConceptIndex) -> Rewritten:
    """Drop names that have a minus where the text has a plus, or the reverse."""
    members = index.members.start[names.rows].tolist()
    written = index.store.texts(members)
    kept = np.array([not are_opposite(text, written[member]) for member in members])
    return Rewritten(names.rows[kept], names.certainty[kept])


def _same_words(text: str, rows: np.ndarray, index: ConceptIndex) -> np.ndarray:
    """Choose among the rows with a mention's bag of words.

    RETURNS (Ints1d): int64: the rows that have its words in its order and no other sign; a short
        form must be the same letters. Empty if all of them denote one concept.
    """
    concepts = index.members.concept[index.members.of_rows(rows)]
    if (concepts == concepts[0]).all():
        return rows[:0]
    members = index.members.start[rows].tolist()
    reader = index.words
    names, words = index.store.texts(members), reader.normalized(text)
    kept = [
        name == text
        or (
            reader.normalized(reader.orthography.restore_word_order(name)) == words
            and not (_is_exact(name) or _is_exact(text) or are_opposite(text, name))
        )
        for name in map(names.__getitem__, members)
    ]
    return rows[kept]


def _is_exact(text: str) -> bool:
    """Check whether only the same letters are the same text."""
    return len(text) <= _LONGEST_EXACT and is_short_form(text)
