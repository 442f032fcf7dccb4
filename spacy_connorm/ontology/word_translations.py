"""Synonyms that tables of translations lack, made word by word: labels in two languages tell that
"joint" is "articulaire" and "pain" is "douleur", so "joint pain" is "douleur articulaire". The
finder compares words, so neither their order nor their endings must be right.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from ..text.words import Words

_WORD = re.compile(r"[^\W_]+")
# It stands for the other word of one that has none in a label.
_NOTHING = ""
_ROUNDS = 6
# The minimum geometric mean of the probabilities of both directions, of a word in a phrase, and of
# a name of one word.
_LEAST, _LEAST_ALONE = 0.25, 0.6
# How often labels must show a translation: three words of one label may be each other's.
_LEAST_OFTEN = 0.9
# The maximum number of translations of a word and of a phrase, and of words in a phrase.
_MOST, _MOST_PHRASES, _MOST_WORDS = 3, 6, 5


class Phrase(NamedTuple):
    """A translation of a name.

    bag (Tuple[str, ...]): Its normalized words, as names are compared.
    text (str): Words with the most usual endings, in the usual order of the language.
    certainty (float): That of its least certain word, 0 to 1.
    """

    bag: tuple[str, ...]
    text: str
    certainty: float


class WordTranslations:
    """What words of one language are in another, learned from labels."""

    def __init__(self, labels: Sequence[tuple[str, str]], words: Words, others: Words) -> None:
        """Align the words of labels: the first model of Brown et al. (1993), in both directions.

        labels (Sequence[Tuple[str, str]]): Labels of the same concept in both languages.
        words (Words): Reads the words of the first one.
        others (Words): Reads those of the other one.
        """
        self._words, self._others = words, others
        pairs = [(words.content(label), others.content(other)) for label, other in labels]
        one = _align(pairs)
        reverse = _align([(target, source) for source, target in pairs])
        self._known: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for (word, other), (chance, often) in one.items():
            back, _ = reverse.get((other, word), (0.0, 0.0))
            certainty = (chance * back) ** 0.5
            if certainty >= _LEAST and often >= _LEAST_OFTEN:
                self._known[word].append((certainty, other))
        for word, translations in self._known.items():
            self._known[word] = sorted(translations, reverse=True)[:_MOST]
        self._written = _usual_forms((other for _, other in labels), others)

    def phrases(self, name: str) -> Iterator[Phrase]:
        """Translate a name.

        name (str): A name in the first language.
        YIELDS (Phrase): Its translations; nothing if a word has none.
        """
        parts = self._parts(name)
        sizes = [len(part) for part in parts]
        if not 0 < sum(sizes) <= _MOST_WORDS:
            return
        choices = [self._known.get(word, ()) for part in parts for word in part]
        for choice in islice(product(*choices), _MOST_PHRASES):
            certainty = min(certainty for certainty, _ in choice)
            if certainty >= (_LEAST if len(choice) > 1 else _LEAST_ALONE):
                stems = [stem for _, stem in choice]
                ordered = self._ordered(stems, sizes)
                text = " ".join(self._written.get(stem, stem) for stem in ordered)
                yield Phrase(tuple(sorted(stems)), text, certainty)

    def _parts(self, name: str) -> list[list[str]]:
        """Split a name at its function words: "inflammation of the joint"."""
        parts: list[list[str]] = [[]]
        for word in self._words.normalized(name):
            if word in self._words.classes.function_words:
                parts.append([])
            else:
                parts[-1].append(word)
        return parts

    def _ordered(self, stems: Sequence[str], sizes: Iterable[int]) -> Iterator[str]:
        """Write each part of a phrase in the order of the language."""
        rest = iter(stems)
        step = 1 if self._others.is_head_first == self._words.is_head_first else -1
        for size in sizes:
            yield from list(islice(rest, size))[::step]


def _align(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> dict[tuple[str, str], tuple[float, float]]:
    """Estimate what each word is in the other language.

    RETURNS (Dict[Tuple[str, str], Tuple[float, float]]): How likely the first word is the second
        one, and how often labels show it, by pair of words.
    """
    numbers: dict[tuple[str, str], int] = {}
    entries, slots, slot = list[int](), list[int](), 0
    for source, target in pairs:
        for other in target:
            for word in (*source, _NOTHING):
                entries.append(numbers.setdefault((word, other), len(numbers)))
                slots.append(slot)
            slot += 1
    first: dict[str, int] = {}
    owners = np.array([first.setdefault(word, len(first)) for word, _ in numbers], "int64")
    entry, place = np.array(entries, "int64"), np.array(slots, "int64")
    chance = np.ones(len(numbers))
    for _ in range(_ROUNDS):
        shares = chance[entry]
        shares /= np.bincount(place, shares)[place]
        counts = np.bincount(entry, shares, minlength=len(numbers))
        chance = counts / np.bincount(owners, counts)[owners]
    return dict(zip(numbers, zip(chance.tolist(), counts.tolist(), strict=True), strict=True))


def _usual_forms(labels: Iterable[str], words: Words) -> dict[str, str]:
    """List the most usual form of each normalized word."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for label in labels:
        for form in _WORD.findall(label.lower()):
            forms[" ".join(words.normalized(form))][form] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in forms.items()}
