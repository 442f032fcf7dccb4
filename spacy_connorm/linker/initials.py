"""What short forms stand for that no document defines: the names that begin with their letters.
"LHON" is Leber hereditary optic neuropathy if the ontology has it, and "SMA type 1" its spinal
muscular atrophy, type 1.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from math import inf, prod
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..text.short_forms import drop_plural, is_short_form

# In a larger index, most short forms are the initials of some name by chance.
_MOST_NAMES = 100_000
# How certain it is that names mean a short form is 1 / (1 + c ** 0.3), where c is how many have its
# letters by chance, and 0.3 if some letters are inside words: `benchmarks/initials.py`.
_POWER = 0.3
_CERTAINTY_INSIDE = 0.3
# Less certain ones are not searched.
_LEAST = 0.05
# The most that may have the letters by chance if there are other words before or after them.
_MOST_BY_CHANCE = 0.1
# The minimum number of letters with a word skipped between them, and with letters inside words; the
# maximum number of names for these.
_FEWEST_FOR_SKIPPED, _FEWEST_INSIDE = 4, 3
_MOST_INSIDE = 10_000
_FEWEST_LETTERS = 2
# Longer mentions are not read, so that the time for a document is linear in its length.
_LONGEST_MENTION = 100
_CACHED = 10_000
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[^\s()\[\],;]+")
# "CMT1A", "MEN-1".
_NUMBERED = re.compile(r"([^\W\d_]{2,})-?(\d[^\W_]?)")
# What the initials of each name begin with, and those of the last one end with.
_START = "\n"
_WORD_OR_START = re.compile(f"{_START}|{_WORD.pattern}")


class Expansion(NamedTuple):
    """What a mention with a short form may say.

    text (str): The mention, with a name or its beginning in place of the short form.
    certainty (float): How probable it is, 0 to 1.
    """

    text: str
    certainty: float


class _Match(NamedTuple):
    """Words of a name whose first letters were found.

    member (int): The name.
    name (str): Its text.
    words (Sequence[re.Match]): All its words but the small ones.
    first (int): The first word that was found.
    last (int): The word after those found.
    """

    member: int
    name: str
    words: Sequence[re.Match[str]]
    first: int
    last: int

    def text(self, last: int) -> str:
        return self.name[self.words[self.first].start() : self.words[last - 1].end()]


class Initials:
    """The first letters of the words of all names of an index."""

    def __init__(self, index: ConceptIndex) -> None:
        """Store what is needed of an index, but not the index: it can be closed.

        index (ConceptIndex): The index.
        """
        self._store, self._concepts = index.store, index.members.concept
        self._reader = index.words
        self._small = index.words.classes.function_words
        self._known: Cache[str, tuple[Expansion, ...]] = Cache(_CACHED)

    def expand(self, mention: str) -> tuple[Expansion, ...]:
        """Find out what a mention with a short form may say.

        mention (str): A cleaned mention.
        RETURNS (Tuple[Expansion, ...]): One for each concept or beginning of names that has the
            letters of its first short form that has any; none in an index of more than 100,000
            names, and for a mention of more than 100 characters.
        """
        known = self._known.get(mention)
        if known is None:
            is_large = len(self._concepts) > _MOST_NAMES
            is_read = not is_large and len(mention) <= _LONGEST_MENTION
            known = tuple(self._expanded(mention)) if is_read else ()
            self._known.put(mention, known)
        return known

    def _expanded(self, mention: str) -> list[Expansion]:
        for token in _TOKEN.finditer(mention):
            for short, number in _readings(token.group()):
                letters = "".join(filter(str.isalnum, short)).lower()
                if found := self._find(letters, number):
                    before, after = mention[: token.start()], mention[token.end() :]
                    return [
                        Expansion(f"{before}{text}{after}", certainty) for text, certainty in found
                    ]
        return []

    def _find(self, letters: str, number: str) -> list[Expansion]:
        """Find the names that begin with letters: whole names first, then beginnings, then names
        with one word more, and last those that have some letters inside a word.

        letters (str): The letters, in lower case.
        number (str): The number after them; empty for none.
        """
        if len(letters) < _FEWEST_LETTERS:
            return []
        for matches, certainty in self._matches(letters, has_number=bool(number)):
            texts = self._numbered(matches, number) if number else dict(map(self._named, matches))
            if texts:
                share = certainty / len(texts)
                return [Expansion(text, share) for text in texts.values() if share >= _LEAST]
        return []

    def _named(self, match: _Match) -> tuple[Hashable, str]:
        """RETURNS (Tuple[Hashable, str]): The words that were found, and the concept if they are a
        whole name, or else the words.
        """
        text = match.text(match.last)
        is_whole = match.last - match.first == len(match.words)
        return self._concepts[match.member] if is_whole else text.lower(), text

    def _numbered(self, matches: Iterable[_Match], number: str) -> dict[Hashable, str]:
        """Find the names with the number after the words that were found; without any, the words of
        names with another number, and this one.
        """
        same, others = dict[Hashable, str](), dict[Hashable, str]()
        digits = self._reader.normalized(number)
        for match in matches:
            for place in range(match.last, len(match.words)):
                written = self._reader.normalized(match.words[place].group())
                if written == digits:
                    same[self._concepts[match.member]] = match.text(place + 1)
                elif written[:1] and written[0].isdigit():
                    text = f"{match.text(match.last)} {number}"
                    others[text.lower()] = text
        return same or others

    def _matches(
        self, letters: str, *, has_number: bool
    ) -> Iterator[tuple[Iterator[_Match], float]]:
        """YIELDS (Tuple[Iterator[_Match], float]): The names with the letters, in one place after
        the other, and how certain they are there.
        """
        share = prod(self._share[letter] for letter in letters)
        for pattern, places, most in self._patterns(letters, has_number=has_number):
            chance = places * share
            if chance <= most:
                yield self._places(pattern), 1 / (1 + chance**_POWER)
        if (len(letters) >= _FEWEST_INSIDE or has_number) and len(self._lengths) <= _MOST_INSIDE:
            yield self._inside(letters), _CERTAINTY_INSIDE

    def _patterns(self, letters: str, *, has_number: bool) -> Iterator[tuple[str, int, float]]:
        """YIELDS (Tuple[str, int, float]): What to find among the initials, in how many places it
        may stand by chance, and how many of these may have it.
        """
        # Python finds what begins with a letter six times as fast as what begins with a lookbehind.
        length, lengths = len(letters), self._lengths
        yield f"{_START}{letters}(?={_START})", int(np.sum(lengths == length)), inf
        longer = int(np.sum(lengths > length))
        most = inf if has_number else _MOST_BY_CHANCE
        yield f"{_START}{letters}", longer, most
        yield letters, int(np.sum(np.maximum(lengths - length, 0))), most
        if length >= _FEWEST_FOR_SKIPPED:
            ways = [f"{letters[1:cut]}[^{_START}]{letters[cut:]}" for cut in range(1, length)]
            yield f"{_START}{letters[0]}(?:{'|'.join(ways)})", longer * len(ways), most

    def _places(self, pattern: str) -> Iterator[_Match]:
        """YIELDS (_Match): The words whose initials match."""
        for match in re.finditer(pattern, self._letters):
            place = match.start() + pattern.startswith(_START)
            member = int(np.searchsorted(self._borders, place)) - 1
            name = self._store.texts([member])[member]
            start = int(self._borders[member]) + 1
            yield _Match(member, name, self._words(name), place - start, match.end() - start)

    def _inside(self, letters: str) -> Iterator[_Match]:
        """YIELDS (_Match): The beginnings of names whose words begin with letters of a short form,
        and have its other letters inside: "PKU" in "phenylketonuria".
        """
        others = "".join(f"{letter}?" for letter in letters[1:])
        for match in self._places(f"{_START}{letters[0]}{others}"):
            texts = [word.group().lower() for word in match.words[: match.last]]
            # A word in capitals is not its own short form.
            if _has_letters(texts, letters) and not texts[0].startswith(letters):
                yield match

    def _words(self, name: str) -> list[re.Match[str]]:
        words = list(_WORD.finditer(name))
        return [word for word in words if word.group().lower() not in self._small]

    @cached_property
    def _letters(self) -> str:
        names = _START.join(name.replace(_START, " ") for name in self._store.all_texts())
        # "İ" would be two letters. All at once, as a large index has 100,000 names.
        lowered = f"{_START}{names}{_START}".replace("\u0130", "i").lower()
        words = _WORD_OR_START.findall(lowered)
        return "".join([word[0] for word in words if word not in self._small])

    @cached_property
    def _borders(self) -> np.ndarray:
        codes = np.frombuffer(self._letters.encode("utf-32-le"), dtype="<u4")
        return np.flatnonzero(codes == ord(_START))

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.diff(self._borders) - 1

    @cached_property
    def _share(self) -> Counter[str]:
        counts = Counter(self._letters)
        del counts[_START]
        return Counter({letter: count / counts.total() for letter, count in counts.items()})


# By index, since each change of synonyms makes a new retriever.
_OF_INDEX: WeakKeyDictionary[ConceptIndex, Initials] = WeakKeyDictionary()


def initials_of(index: ConceptIndex) -> Initials:
    """Get the initials of an index.

    index (ConceptIndex): The index.
    RETURNS (Initials): The same object for the same index.
    """
    return _OF_INDEX.setdefault(index, Initials(index))


def _readings(token: str) -> Iterator[tuple[str, str]]:
    """YIELDS (Tuple[str, str]): A short form, and the number after it: "CMT1A" may have one."""
    short = drop_plural(token)
    if is_short_form(short):
        yield short, ""
        if numbered := _NUMBERED.fullmatch(short):
            yield numbered[1], numbered[2]


def _has_letters(words: Sequence[str], letters: str) -> bool:
    """Check whether words begin with letters in order, and have those between inside.

    words (Sequence[str]): Words in lower case.
    letters (str): The letters.
    RETURNS (bool): True for "erythropoietic protoporphyria" and "epp".
    """
    # How many letters may be used up when a word begins.
    ends = {0}
    for word in words:
        ends = {
            end
            for used in ends
            if word[:1] == letters[used : used + 1] != ""
            for end in _used(word, letters, used)
        }
    return len(letters) in ends


def _used(word: str, letters: str, used: int) -> Iterator[int]:
    """YIELDS (int): How many letters may be used up after a word that begins with the next one."""
    place = 0
    for end in range(used + 1, len(letters) + 1):
        yield end
        place = word.find(letters[end : end + 1], place + 1)
        if place < 0:
            return
