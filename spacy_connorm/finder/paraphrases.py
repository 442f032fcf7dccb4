"""Finds what says the same as a name in other words: "stairs are a struggle" is difficulty climbing
stairs. Each few words between the mentions are searched for like a mention, and a logistic
regression tells how likely they mean what is nearest to them.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import mul
from typing import NamedTuple

from spacy.tokens import Doc

from ..concepts import Candidate
from ..files.package_data import read_toml
from ..index.cache import Cache
from ..linker.calibration import features_of
from ..linker.query import Query
from ..linker.rescoring import Rescorer
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
_WEIGHTS = read_toml(__package__, "paraphrases.toml")["weights"]


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
        weights = map(_WEIGHTS.__getitem__, self._fields)
        logit = _WEIGHTS["intercept"] + sum(map(mul, weights, self))
        return (1 + math.tanh(logit / 2)) / 2


class Paraphrase(NamedTuple):
    """Some words of a text, and what they may mean.

    start (int): The first token.
    end (int): The token after them.
    candidate (Candidate): The best candidate.
    features (ParaphraseFeatures): What tells whether they mean it.
    """

    start: int
    end: int
    candidate: Candidate
    features: ParaphraseFeatures


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

    @cached_property
    def _names(self) -> int:
        return len(self.retriever.index.vectors)

    def find(self, doc: Doc, windows: FoundWindows, min_probability: float) -> list[Paraphrase]:
        """Find the paraphrases beside the mentions of a document. Of those that overlap, the most
        probable one is kept.

        doc (Doc): The document.
        windows (FoundWindows): Its mentions, and what was refused.
        min_probability (float): The minimum probability.
        RETURNS (List[Paraphrase]): The paraphrases in order.
        """
        near = list(self.list_all(doc, windows))
        probabilities = [paraphrase.features.probability for paraphrase in near]
        return choose_paraphrases(near, probabilities, min_probability)

    def list_all(self, doc: Doc, windows: FoundWindows) -> Iterator[Paraphrase]:
        """List the words of a document that come near a name, unless a window among them has its
        words and was refused: "ST depression" is not a depression.

        doc (Doc): The document.
        windows (FoundWindows): Its mentions, and what was refused.
        YIELDS (Paraphrase): Those words, with the concept. None in an index of too few or too many
            names, or whose scores are not cosines.
        """
        has_enough_names = _FEWEST_NAMES <= self._names <= _MOST_NAMES
        if not (has_enough_names and self.retriever.has_cosines):
            return
        taken = {token for start, end, *_ in windows.mentions for token in range(start, end)}
        refused = defaultdict[int, list[RefusedWindow]](list)
        for window in windows.refused:
            refused[window.start].append(window)
        places = list(_places(doc, taken, self._words))
        texts = [clean(doc[start:end].text) for start, end in places]
        nearest = self._nearest.get_all(texts, self._search)
        for (start, end), text in zip(places, texts, strict=True):
            if candidates := nearest[text]:
                inside = chain.from_iterable(refused.get(token, ()) for token in range(start, end))
                concept = self.retriever.index.number(candidates[0].concept_id)
                if not any(one.end <= end and concept in one.concepts for one in inside):
                    is_near = not taken.isdisjoint(range(start - _NEAR, end + _NEAR))
                    yield Paraphrase(start, end, candidates[0], self._features(candidates, is_near))

    def _search(self, texts: Sequence[str]) -> dict[str, tuple[Candidate, ...]]:
        """Find the best candidates of each text; none for one with too few words, without a near
        name, or with one that has no paraphrases.
        """
        said = [text for text in texts if len(self._words.content(text)) >= _FEWEST_WORDS]
        cosines = self._run_sieve(said, rescorers=(), top_k=1)
        near = [text for text, best in cosines if best[0].score >= _LEAST_COSINE]
        nearest: dict[str, tuple[Candidate, ...]] = dict.fromkeys(texts, ())
        for text, best in self._run_sieve(near, self.query.rescorers, top_k=_DEPTH):
            if not self._has_no_paraphrase(best[0]):
                nearest[text] = tuple(best)
        return nearest

    def _run_sieve(
        self, texts: Sequence[str], rescorers: Sequence[Rescorer], *, top_k: int
    ) -> Iterator[tuple[str, list[Candidate]]]:
        """YIELDS (Tuple[str, List[Candidate]]): Each text that has any candidates, and the best."""
        allowed = self.retriever.allowed(self.query.filter)
        for start in range(0, len(texts), _BATCH):
            batch = self.retriever.encode(texts[start : start + _BATCH], allowed)
            answers = run_sieve(batch, self.query.sieve, rescorers, top_k=top_k)
            yield from ((text, best) for text, best in answers.items() if best)

    def _has_no_paraphrase(self, name: Candidate) -> bool:
        is_short = len(name.text) <= self.short_letters and is_short_form(name.text)
        return is_short or hash_bag(self._words.bag(name.text)) in self.stopped

    def _features(self, candidates: Sequence[Candidate], is_near: bool) -> ParaphraseFeatures:
        best, *_ = features_of(candidates)
        ours, theirs = map(self._words.content, (candidates[0].searched, candidates[0].text))
        return ParaphraseFeatures(
            best.score,
            best.margin,
            best.shared,
            words=min(len(ours), _MOST_WORDS),
            disjoint=float(set(ours).isdisjoint(theirs)),
            near=float(is_near),
        )


def choose_paraphrases(
    paraphrases: Sequence[Paraphrase], probabilities: Sequence[float], min_probability: float
) -> list[Paraphrase]:
    """Keep the most probable of overlapping paraphrases; of equally probable ones, the longest.

    paraphrases (Sequence[Paraphrase]): The paraphrases of a document.
    probabilities (Sequence[float]): How likely each means its concept.
    min_probability (float): The minimum probability.
    RETURNS (List[Paraphrase]): Those to keep, in order.
    """
    likely = [
        (-probability, one.start - one.end, one)
        for one, probability in zip(paraphrases, probabilities, strict=True)
        if probability >= min_probability
    ]
    chosen, taken = [], set[int]()
    for *_, one in sorted(likely, key=lambda item: (*item[:2], item[2].start)):
        tokens = range(one.start, one.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            chosen.append(one)
    return sorted(chosen)


def _places(doc: Doc, taken: Collection[int], words: Words) -> Iterator[tuple[int, int]]:
    """List the places of a document where words may mean something together: they begin and end
    with content words, and none of them says how the others are meant, "spleen not enlarged".

    YIELDS (Tuple[int, int]): The first token, and the token after the last one.
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
                    yield start, end + 1
