"""Short forms that a document does not define: "GSH" is glutathione, where an ontology of diseases
has only glucocorticoid-suppressible hyperaldosteronism.
"""

from collections.abc import Iterable, Sequence

from ..index.cache import Cache
from ..index.store import ConceptStore
from ..text.bag_hashes import hash_word
from ..text.short_forms import is_short_form
from ..text.words import Words
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

    def __init__(self, store: ConceptStore, reader: Words) -> None:
        """Store the names.

        store (ConceptStore): The names of the concepts.
        reader (Words): Reads the words of their language.
        """
        self._store = store
        self._reader = reader
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
        return are_short and not self._is_supported(names, words)

    def _is_supported(self, names: Sequence[KnownName], words: frozenset[int]) -> bool:
        longs = self._words.get_all((name.concept for name in names), self._read).values()
        shares = [len(long & words) / len(long) for forms in longs for long in forms]
        return max(shares, default=1.0) >= _LEAST_SHARE

    def _read(self, concepts: Sequence[int]) -> dict[int, tuple[frozenset[int], ...]]:
        return {
            concept: self._long_words(self._store.concept(concept).names) for concept in concepts
        }

    def _long_words(self, names: Iterable[str]) -> tuple[frozenset[int], ...]:
        """RETURNS (Tuple[FrozenSet[int], ...]): The hashes of the words of each long name."""
        longs = (self._reader.content(name) for name in names if not is_short_form(name))
        words = (frozenset(hash_word(word) for word in long if len(word) > _TINY) for long in longs)
        return tuple(filter(None, words))
