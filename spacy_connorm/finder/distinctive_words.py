"""Single words that only the names of one concept have, and so may say it alone: "pneumothorax" is
neonatal pneumothorax where the ontology has no other one, and "HELLP" is HELLP syndrome; "UTI" is
the urinary tract infection in pregnancy if all are.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from spacy.tokens import Doc

from ..documents.abbreviations import read_abbreviations
from ..index.cache import Cache
from ..text.bag_hashes import hash_bag
from .found_mentions import FoundWindows
from .known_names import KnownNames
from .paraphrases import Paraphrase, is_near, probability_of

# The minimum number of letters.
_SHORTEST = 4
_CACHED = 100_000
_NONE = frozenset[int]()


class WordFeatures(NamedTuple):
    """What tells whether a word means the only concept whose names have it, or its long form's
    words.

    missing (float): The number of other words that the name has.
    letters (float): The number of its letters: long words mean one thing.
    unknown (float): 1 if no lexicon has it, otherwise 0: it is a word of the field.
    said (float): The share of the other words that the document has near it.
    capitals (float): 1 for a short form, otherwise 0.
    near (float): As in `ParaphraseFeatures`.
    """

    missing: float
    letters: float
    unknown: float
    said: float
    capitals: float
    near: float

    @property
    def probability(self) -> float:
        """How likely the word means the concept.

        RETURNS (float): The probability, 0 to 1.
        """
        return probability_of(self, "words")


class _Name(NamedTuple):
    """A name, the number of its concept, and its words."""

    text: str
    concept: int
    words: frozenset[str]


class DistinctiveWords:
    """Finds the words that only the names of one concept have, or that stand for several which only
    its names have together.
    """

    def __init__(self, names: KnownNames, stopped: Collection[int]) -> None:
        """Start with an empty cache.

        names (KnownNames): The names.
        stopped (Collection[int]): The hashes of the bags of words of texts that are no mentions.
        """
        self._names = names
        self._stopped = stopped
        self._words = names.index.words
        self._content: Cache[str, tuple[str, ...]] = Cache(_CACHED)
        self._known: Cache[frozenset[str], tuple[_Name | None]] = Cache(_CACHED)

    def list_all(
        self, docs: Sequence[Doc], found: Sequence[FoundWindows]
    ) -> list[list[Paraphrase]]:
        """List these words beside the mentions of documents, unless a window around one has all
        words of a name of the concept, and was refused.

        docs (Sequence[Doc]): The documents.
        found (Sequence[FoundWindows]): Their mentions, and what was refused.
        RETURNS (List[List[Paraphrase]]): The words of each document.
        """
        return [list(self._near(doc, windows)) for doc, windows in zip(docs, found, strict=True)]

    def _near(self, doc: Doc, windows: FoundWindows) -> Iterator[Paraphrase]:
        content = self._content.get_all({token.text for token in doc}, self._read)
        places = defaultdict[str, set[int]](set)
        for token in doc:
            for word in content[token.text]:
                places[word].add(token.i)
        mentioned = windows.tokens()
        refused = {
            (token, concept)
            for window in windows.refused
            for concept in window.concepts
            for token in range(window.start, window.end)
        }
        definitions = read_abbreviations(doc)
        for token in doc:
            if token.i in mentioned:
                continue
            long_form = definitions.long_form(token.text, token.idx + len(token) - 1)
            words = self._words.content(long_form) if long_form else content[token.text]
            name = self._only_name(frozenset(words)) if _says_much(token.text, words) else None
            if name is None or (token.i, name.concept) in refused:
                continue
            missing = name.words.difference(words)
            said = sum(is_near(token.i, token.i + 1, places[word]) for word in missing)
            features = WordFeatures(
                missing=float(len(missing)),
                letters=float(len(token)),
                unknown=float(not self._words.language.lemma(token.lower_)),
                said=said / len(missing),
                capitals=float(token.text.isupper()),
                near=float(is_near(token.i, token.i + 1, mentioned)),
            )
            concept_id, _ = self._names.index.store.labels([name.concept])[name.concept]
            yield Paraphrase(token.i, token.i + 1, concept_id, features, name.text)

    def _read(self, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """RETURNS (Dict[str, Tuple[str, ...]]): The content words of tokens with letters only, none
        for those that say how others are meant.
        """
        small = self._words.classes.stop_words | self._words.language.finder.marking_words
        return {
            text: tuple(self._words.content(text))
            if text.isalpha() and text.lower() not in small
            else ()
            for text in texts
        }

    def _only_name(self, words: frozenset[str]) -> _Name | None:
        """RETURNS (Optional[_Name]): The shortest name with all of some words and others, if all
        names with them are of one concept, and neither the name nor these words are a stop text.
        """
        known = self._known.get(words)
        if known is None:
            known = (self._find_only_name(words),)
            self._known.put(words, known)
        return known[0]

    def _find_only_name(self, words: frozenset[str]) -> _Name | None:
        places = frozenset.intersection(*(self._having.get(word, _NONE) for word in words))
        names = [self._all[place] for place in places]
        if len({name.concept for name in names}) != 1:
            return None
        shortest = min(names, key=lambda name: (len(name.words), name.text))
        texts = (words, shortest.words)
        is_stopped = any(hash_bag(tuple(sorted(text))) in self._stopped for text in texts)
        return shortest if shortest.words > words and not is_stopped else None

    @cached_property
    def _all(self) -> list[_Name]:
        """All names."""
        return [_Name(text, concept, frozenset(bag)) for concept, text, bag in self._names.bags()]

    @cached_property
    def _having(self) -> dict[str, frozenset[int]]:
        """The places of the names that have a word."""
        places = defaultdict[str, set[int]](set)
        for place, name in enumerate(self._all):
            for word in name.words:
                places[word].add(place)
        return {word: frozenset(some) for word, some in places.items()}


def _says_much(text: str, words: Sequence[str]) -> bool:
    """Check for a single word of some length, or a short form of several words."""
    return len(words) > 1 or (len(words) == 1 and len(text) >= _SHORTEST)
