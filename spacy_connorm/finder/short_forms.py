"""Short forms that a document does not define: "GSH" is glutathione, where an ontology of diseases
has only glucocorticoid-suppressible hyperaldosteronism.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..index.cache import Cache
from ..index.store import ConceptStore
from ..text.bag_hashes import hash_word
from ..text.words import words_of
from .known_names import KnownName
from .name_rules import is_short_form

_EN = words_of("en")
content_words = _EN.content

# Why a window is not a mention.
UNDEFINED = (
    "it is a short form, the document does not define it, and has too few words of its long forms "
    "(`undefined_short_forms`)"
)
# The minimum share of a long form's words in the document. Undefined short forms of train and dev,
# right and wrong, from this share on and below: NCBI 301 and 25, 23 and 57; BC5CDR's diseases 3 and
# 0, 14 and 32 (13 of the 14 are AIDS); UBERON 25 and 8, 1 and 21.
_LEAST_SHARE = 0.6
# Words of at most this many letters and digits do not count: "FH 1".
_TINY = 2
# Shorter texts have no room for long forms, in tokens.
_SHORT_TEXT = 100
# Nobody defines these.
_NEVER_DEFINED = """
ADHD AIDS ALS ARDS BPH CHF CKD CNS COPD CSF CVA DKA DNA DVT ECG EEG ESRD GERD GVHD HIV HTN IBD
IBS IDDM ITP IUGR NIDDM OCD PCOS PKU PTSD RNA SARS SIADH SIDS SLE STEMI SVT TB TIA UTI VSD
"""
_WELL_KNOWN = frozenset(_NEVER_DEFINED.split())
_CACHED = 10_000


class LongForms:
    """The long forms of an index's short forms, which tell whether a document means them."""

    def __init__(self, store: ConceptStore) -> None:
        """Store the names.

        store (ConceptStore): The names of the concepts.
        """
        self._store = store
        self._words: Cache[int, tuple[frozenset[int], ...]] = Cache(_CACHED)

    def undefined(self, words: np.ndarray, names: Mapping[str, Sequence[KnownName]]) -> set[str]:
        """Find the short forms that a document does not define, without most words of any of their
        long forms. Short forms in D and those of concepts without long forms are left out.

        words (np.ndarray): uint64 (t,): the hashes of the document's tokens, see `TokenArrays`.
        names (Mapping[str, Sequence[KnownName]]): The names with the words of each text. Short
            forms that the document defines have the words of long forms.
        RETURNS (Set[str]): Those of the texts.
        """
        if len(words) < _SHORT_TEXT:
            return set()
        shorts = {
            text: own
            for text, own in names.items()
            if text not in _WELL_KNOWN
            and all(_is_short_form(name.text) and not name.times for name in own)
        }
        if not shorts:
            return set()
        known = frozenset(words.tolist())
        return {text for text, own in shorts.items() if not self._is_supported(own, known)}

    def _is_supported(self, names: Sequence[KnownName], words: frozenset[int]) -> bool:
        longs = self._words.get_all((name.concept for name in names), self._read).values()
        shares = [len(long & words) / len(long) for own in longs for long in own]
        return max(shares, default=1.0) >= _LEAST_SHARE

    def _read(self, concepts: Sequence[int]) -> dict[int, tuple[frozenset[int], ...]]:
        return {each: _long_words(self._store.concept(each).names) for each in concepts}


@lru_cache(maxsize=_CACHED)
def _is_short_form(name: str) -> bool:
    """Tell short forms from names in capitals: "ISCHEMIC STROKE"."""
    return is_short_form(name) and not any(map(str.isspace, name))


def _long_words(names: Iterable[str]) -> tuple[frozenset[int], ...]:
    """RETURNS (Tuple[FrozenSet[int], ...]): The hashes of the words of each long name."""
    longs = (content_words(name) for name in names if not _is_short_form(name))
    words = (frozenset(hash_word(word) for word in long if len(word) > _TINY) for long in longs)
    return tuple(filter(None, words))
