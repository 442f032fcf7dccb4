"""Finds what says the same as a name in other words: "stairs are a struggle" is difficulty climbing
stairs. Each few words between the mentions are searched for like a mention, and a logistic
regression tells how likely they mean what is nearest to them.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import mul
from typing import NamedTuple, Protocol

from spacy.tokens import Doc

from ..concepts import Candidate
from ..files.package_data import read_toml
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..linker.calibration import features_of
from ..linker.query import Query
from ..linker.retriever import Retriever
from ..linker.sieve import run_sieve
from ..text.bag_hashes import hash_bag
from ..text.cleaning import clean
from ..text.short_forms import is_short_form
from ..text.words import Words
from .found_mentions import FoundWindows, RefusedWindow

# Longer ones say more than one name. In tokens.
_LONGEST = 8
_FEWEST_WORDS, _MOST_WORDS = 2, 5
# No paraphrase goes across these.
_BREAKS = frozenset(",.;:!?()[]\n")
# The minimum cosine of what is rescored. It leaves out two of three, and one paraphrase of a
# hundred.
_LEAST_COSINE = 0.45
# The concept and its rival.
_DEPTH = 2
# The number of texts searched at once.
_BATCH = 128
# How far away a mention shows that a text is about the ontology, in tokens.
_NEAR = 30
# Few names are near to anything, and of many, one is near to everything.
_FEWEST_NAMES, _MOST_NAMES = 200, 3_000
_CACHED = 100_000
# Some words of a document: the first token, the token after them, and their text, cleaned.
_Place = tuple[int, int, str]
_WEIGHTS = read_toml(__package__, "paraphrases.toml")


class ParaphraseFeatures(NamedTuple):
    """What tells whether some words mean the concept whose name is nearest to them.

    score (float): The score of the name.
    margin (float): How far it is ahead of the next concept.
    shared (float): The share of letters that it has in common with the words, see
        `calibration.shared_letters`.
    words (float): The number of content words, at most five: by chance, few words come near a name.
    disjoint (float): 1 if the name has none of them, otherwise 0.
    near (float): 1 if there is a mention beside them, otherwise 0: then the text is about what the
        ontology is about.
    """

    score: float
    margin: float
    shared: float
    words: float
    disjoint: float
    near: float

    @property
    def probability(self) -> float:
        """How likely the words mean the concept.

        RETURNS (float): The probability, 0 to 1.
        """
        return probability_of(self, "paraphrases")


class Features(Protocol):
    """What tells whether some words mean a concept."""

    @property
    def probability(self) -> float:
        """How likely they do, 0 to 1."""


class Paraphrase(NamedTuple):
    """Some words of a text, and what they may mean.

    start (int): The first token.
    end (int): The token after them.
    concept_id (str): The concept.
    features (Features): What tells whether they mean it.
    name (str): The name that they stand for; empty if the words themselves come near it.
    """

    start: int
    end: int
    concept_id: str
    features: Features
    name: str = ""


@dataclass(frozen=True, eq=False)
class ParaphraseFinder:
    """Finds paraphrases of the names of one index.

    retriever (Retriever): The index.
    query (Query): How the normalizer searches for mentions.
    stopped (Collection[int]): The hashes of the bags of words of texts that are no mentions.
    short_letters (int): Names in capitals of so many letters have no paraphrases.
    """

    retriever: Retriever
    query: Query
    stopped: Collection[int]
    short_letters: int
    _nearest: Cache[str, tuple[Candidate, ...]] = field(
        default_factory=lambda: Cache(_CACHED), init=False, repr=False
    )

    @cached_property
    def _words(self) -> Words:
        return self.retriever.index.words

    def list_all(
        self, docs: Sequence[Doc], found: Sequence[FoundWindows]
    ) -> list[list[Paraphrase]]:
        """List the words of documents that come near a name, unless a window among them has its
        words and was refused: "ST depression" is not a depression.

        docs (Sequence[Doc]): The documents.
        found (Sequence[FoundWindows]): Their mentions, and what was refused.
        RETURNS (List[List[Paraphrase]]): Those words of each document, with the concept. None in an
            index whose scores are not cosines.
        """
        if not self.retriever.has_cosines:
            return [[] for _ in docs]
        places = [
            list(_places(doc, windows.tokens(), self._words))
            for doc, windows in zip(docs, found, strict=True)
        ]
        texts = (text for *_, text in chain.from_iterable(places))
        nearest = self._nearest.get_all(texts, self._search)
        return [
            list(self._near(windows, own, nearest))
            for windows, own in zip(found, places, strict=True)
        ]

    def _near(
        self,
        windows: FoundWindows,
        places: Iterable[_Place],
        nearest: Mapping[str, tuple[Candidate, ...]],
    ) -> Iterator[Paraphrase]:
        """YIELDS (Paraphrase): The words at places of a document that come near a name, unless a
        refused window among them says it.
        """
        mentioned, refused = windows.tokens(), defaultdict[int, list[RefusedWindow]](list)
        for window in windows.refused:
            refused[window.start].append(window)
        for start, end, text in places:
            if candidates := nearest[text]:
                inside = chain.from_iterable(refused.get(token, ()) for token in range(start, end))
                concept = self.retriever.index.number(candidates[0].concept_id)
                if not any(one.end <= end and concept in one.concepts for one in inside):
                    features = self._features(candidates, is_near(start, end, mentioned))
                    yield Paraphrase(start, end, candidates[0].concept_id, features)

    def _search(self, texts: Sequence[str]) -> dict[str, tuple[Candidate, ...]]:
        """Find the best candidates of each text; none for one with too few words, without a near
        name, or with one that has no paraphrases.
        """
        said = [text for text in texts if len(self._words.content(text)) >= _FEWEST_WORDS]
        allowed = self.retriever.allowed(self.query.filter)
        nearest: dict[str, tuple[Candidate, ...]] = dict.fromkeys(texts, ())
        for start in range(0, len(said), _BATCH):
            batch = self.retriever.encode(said[start : start + _BATCH], allowed)
            cosines = run_sieve(batch, self.query.sieve, top_k=1)
            near = [
                place
                for place, text in enumerate(batch.texts)
                if any(best.score >= _LEAST_COSINE for best in cosines[text])
            ]
            answers = run_sieve(
                batch.part(near), self.query.sieve, self.query.rescorers, top_k=_DEPTH
            )
            for text, best in answers.items():
                if not self._has_no_paraphrase(best[0]):
                    nearest[text] = tuple(best)
        return nearest

    def _has_no_paraphrase(self, name: Candidate) -> bool:
        is_short = len(name.text) <= self.short_letters and is_short_form(name.text)
        return is_short or hash_bag(self._words.bag(name.text)) in self.stopped

    def _features(self, candidates: Sequence[Candidate], has_mention: bool) -> ParaphraseFeatures:
        best, *_ = features_of(candidates)
        ours, theirs = map(self._words.content, (candidates[0].searched, candidates[0].text))
        return ParaphraseFeatures(
            best.score,
            best.margin,
            best.shared,
            words=min(len(ours), _MOST_WORDS),
            disjoint=float(set(ours).isdisjoint(theirs)),
            near=float(has_mention),
        )


def has_paraphrases(index: ConceptIndex) -> bool:
    """Check whether the names of an index can be told from other words.

    index (ConceptIndex): The index.
    RETURNS (bool): True unless it has too few or too many names.
    """
    return _FEWEST_NAMES <= len(index.vectors) <= _MOST_NAMES


def is_near(start: int, end: int, others: set[int]) -> bool:
    """Check whether others of the tokens of a document are near some of them.

    start (int): The first token.
    end (int): The token after them.
    others (Set[int]): The others.
    RETURNS (bool): True if one is.
    """
    return not others.isdisjoint(range(start - _NEAR, end + _NEAR))


def probability_of(features: tuple[float, ...], table: str) -> float:
    """Compute a probability by a logistic regression.

    features (Tuple[float, ...]): Named numbers.
    table (str): A table of `paraphrases.toml`, with the weight of each, and the intercept.
    RETURNS (float): The probability, 0 to 1.
    """
    intercept, *weights = _WEIGHTS[table].values()
    return (1 + math.tanh((intercept + sum(map(mul, weights, features))) / 2)) / 2


def choose_paraphrases(
    paraphrases: Iterable[Paraphrase], min_probability: float
) -> list[Paraphrase]:
    """Keep the most probable of overlapping paraphrases; of equally probable ones, the longest. If
    a word means the same concept as several with it, these take its place: "swollen ankles".

    paraphrases (Iterable[Paraphrase]): The paraphrases of a document.
    min_probability (float): The minimum probability.
    RETURNS (List[Paraphrase]): Those to keep, in order.
    """
    likely = {
        one: probability
        for one in paraphrases
        if (probability := one.features.probability) >= min_probability
    }
    alone = {
        (one.start, one.concept_id): probability
        for one, probability in likely.items()
        if one.end - one.start == 1
    }

    def order(one: Paraphrase) -> tuple[float, bool, float, int, int]:
        words = (alone.get((place, one.concept_id), 0.0) for place in range(one.start, one.end))
        is_word = one.end - one.start == 1
        size = one.start - one.end
        return -max(likely[one], *words), is_word, -likely[one], size, one.start

    chosen, taken = [], set[int]()
    for one in sorted(likely, key=order):
        tokens = range(one.start, one.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            chosen.append(one)
    return sorted(chosen)


def _places(doc: Doc, taken: Collection[int], words: Words) -> Iterator[_Place]:
    """List the places of a document where words may mean something together: they begin and end
    with content words, and none of them says how the others are meant, "spleen not enlarged".

    YIELDS (Tuple[int, int, str]): The place.
    """
    texts = [token.text for token in doc]
    marking = words.language.finder.marking_words
    stop_words = words.classes.stop_words
    are_breaks = [
        number in taken or not _BREAKS.isdisjoint(text) or text.lower() in marking
        for number, text in enumerate(texts)
    ]
    are_content = [text[0].isalnum() and text.lower() not in stop_words for text in texts]
    for start, text in enumerate(texts):
        if are_content[start] and text[0].isalpha():
            for end in range(start, min(start + _LONGEST, len(texts))):
                if are_breaks[end]:
                    break
                if are_content[end]:
                    yield start, end + 1, clean(doc[start : end + 1].text)
