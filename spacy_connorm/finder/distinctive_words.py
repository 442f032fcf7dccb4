"""Single words that only the names of one concept have, and so may say it alone: "pneumothorax" is
neonatal pneumothorax where the ontology has no other one, and "HELLP" is HELLP syndrome.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from spacy.tokens import Doc

from ..index.cache import Cache
from ..text.bag_hashes import hash_bag
from .found_mentions import FoundWindows
from .known_names import KnownNames
from .paraphrases import Paraphrase, is_near, probability_of

# The minimum number of letters.
_SHORTEST = 4
_CACHED = 100_000


class WordFeatures(NamedTuple):
    """What tells whether a word means the only concept whose names have it.

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
    """The shortest name of the only concept that has a word, the concept's number, and all words of
    the name.
    """

    text: str
    concept: int
    words: frozenset[str]


class DistinctiveWords:
    """Finds the words that only the names of one concept have."""

    def __init__(self, names: KnownNames, stopped: Collection[int]) -> None:
        """Start with an empty cache.

        names (KnownNames): The names.
        stopped (Collection[int]): The hashes of the bags of words of texts that are no mentions.
        """
        self._names = names
        self._stopped = stopped
        self._words = names.index.words
        self._content: Cache[str, tuple[str, ...]] = Cache(_CACHED)

    def list_all(
        self, docs: Sequence[Doc], found: Sequence[FoundWindows]
    ) -> list[list[Paraphrase]]:
        """List these words beside the mentions of documents, unless a window with one of them has
        all words of a name of the concept, and was refused.

        docs (Sequence[Doc]): The documents.
        found (Sequence[FoundWindows]): Their mentions, and what was refused.
        RETURNS (List[List[Paraphrase]]): The words of each document.
        """
        return [list(self._near(doc, windows)) for doc, windows in zip(docs, found, strict=True)]

    def _near(self, doc: Doc, windows: FoundWindows) -> Iterator[Paraphrase]:
        texts = [token.text for token in doc]
        content = self._content.get_all(set(texts), self._read)
        places = defaultdict[str, set[int]](set)
        for place, text in enumerate(texts):
            for word in content[text]:
                places[word].add(place)
        mentioned = windows.tokens()
        refused = {
            (token, concept)
            for window in windows.refused
            for concept in window.concepts
            for token in range(window.start, window.end)
        }
        for place, text in enumerate(texts):
            if place in mentioned or len(text) < _SHORTEST or len(content[text]) != 1:
                continue
            (word,) = content[text]
            name = self._owners.get(word)
            if name is not None and (place, name.concept) not in refused:
                missing = name.words - {word}
                said = sum(is_near(place, place + 1, places[other]) for other in missing)
                features = WordFeatures(
                    missing=float(len(missing)),
                    letters=float(len(text)),
                    unknown=float(not self._words.language.lemma(text.lower())),
                    said=said / len(missing),
                    capitals=float(text.isupper()),
                    near=float(is_near(place, place + 1, mentioned)),
                )
                (label,) = self._names.index.store.labels([name.concept]).values()
                yield Paraphrase(place, place + 1, label[0], features, name.text)

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

    @cached_property
    def _owners(self) -> Mapping[str, _Name]:
        """The words that only the names of one concept have, but none of them alone."""
        names = defaultdict[str, list[_Name]](list)
        for concept, text, bag in self._names.bags():
            for word in bag:
                names[word].append(_Name(text, concept, frozenset(bag)))
        shortest = {
            word: min(having, key=lambda name: len(name.words))
            for word, having in names.items()
            if len({name.concept for name in having}) == 1
        }
        return {
            word: name
            for word, name in shortest.items()
            if len(name.words) > 1 and hash_bag((word,)) not in self._stopped
        }
