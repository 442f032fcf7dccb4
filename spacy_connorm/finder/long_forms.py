"""Short forms that a document does not define: "GSH" is glutathione, where an ontology of diseases
has only glucocorticoid-suppressible hyperaldosteronism.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from ..files.arrays import list_ranges
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..text.bag_hashes import hash_word
from ..text.short_forms import is_short_form
from .known_names import KnownName

# The minimum share of a long form's words in the document. Undefined short forms of train and dev,
# right and wrong, from this share on and below: NCBI 301 and 25, 23 and 57; BC5CDR's diseases 3 and
# 0, 14 and 32 (13 of the 14 are AIDS); UBERON 25 and 8, 1 and 21.
_LEAST_SHARE = 0.6
# Words of at most this many letters and digits do not count: "FH 1".
_TINY = 2
_CACHED = 10_000


class LongForms:
    """The long forms of an index's short forms, which tell whether a document means them."""

    def __init__(self, index: ConceptIndex) -> None:
        """Store the index.

        index (ConceptIndex): Has the names of the concepts.
        """
        self._index = index
        self._reader = index.words
        self._words: Cache[int, tuple[frozenset[int], ...]] = Cache(_CACHED)

    def is_undefined(self, words: frozenset[int], text: str, names: Sequence[KnownName]) -> bool:
        """Check for a short form that a document does not define, without most words of any of its
        long forms. Short forms in D and those of concepts without long forms are defined.

        words (FrozenSet[int]): The hashes of the document's tokens, see `TokenArrays`.
        text (str): The text.
        names (Sequence[KnownName]): The names with its words. A short form that the document
            defines has the words of its long form.
        RETURNS (bool): True for such a short form.
        """
        well_known = self._reader.language.short_forms.well_known
        are_short = text not in well_known and all(
            is_short_form(name.text) and not name.times for name in names
        )
        return are_short and max(self._shares(names, words), default=1.0) < _LEAST_SHARE

    def is_other_name(self, long_form: str, names: Sequence[KnownName]) -> bool:
        """Check for short forms of a concept that one of its long names tells to be what a
        document calls so: "VHL" for "von Hippel-Lindau", which is not itself a name.

        long_form (str): The long form in the document.
        names (Sequence[KnownName]): The names.
        RETURNS (bool): True if they are.
        """
        words = frozenset(map(hash_word, self._reader.content(long_form)))
        are_short = all(is_short_form(name.text) for name in names)
        return are_short and max(self._shares(names, words), default=0.0) >= _LEAST_SHARE

    def _shares(self, names: Sequence[KnownName], words: frozenset[int]) -> list[float]:
        """RETURNS (List[float]): The share of each long form's words that are among some words."""
        longs = self._words.get_all((name.concept for name in names), self._read).values()
        return [len(long & words) / len(long) for forms in longs for long in forms]

    def _read(self, concepts: Sequence[int]) -> dict[int, tuple[frozenset[int], ...]]:
        concept, names = self._index.members.concept, defaultdict[int, list[str]](list)
        first, last = (
            np.searchsorted(concept, concepts, side=side, sorter=self._order)
            for side in ("left", "right")
        )
        members = self._order[list_ranges(first, last)[1]]
        for member, text in self._index.store.texts(members.tolist()).items():
            names[int(concept[member])].append(text)
        return {number: self._long_words(names[number]) for number in concepts}

    @cached_property
    def _order(self) -> np.ndarray:
        """RETURNS (Ints1d): int64 (members,): The members by concept."""
        return np.argsort(self._index.members.concept, kind="stable")

    def _long_words(self, names: Iterable[str]) -> tuple[frozenset[int], ...]:
        """RETURNS (Tuple[FrozenSet[int], ...]): The hashes of the words of each long name."""
        longs = (self._reader.content(name) for name in names if not is_short_form(name))
        words = (frozenset(hash_word(word) for word in long if len(word) > _TINY) for long in longs)
        return tuple(filter(None, words))
