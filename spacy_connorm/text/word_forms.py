"""What a word of a text may stand for in a name: the noun that an adjective, a verb or a Latin
plural comes from ("retina" for "retinal"), words with another ending that an ontology uses in its
place ("bowed" for "bowing"), and other words for the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, groupby, product
from typing import NamedTuple

import numpy as np

from ..lang import LanguageData, Meaning, WordClasses
from .bag_hashes import MODULUS, hash_bag, hash_word

# The minimum number of letters that both words begin with.
_SHORTEST_STEM = 4
# The minimum number of letters after the first part of a compound.
_SHORTEST_REST = 4
# The minimum number of letters before two endings, and before those of which one is shorter.
_SHORTEST_BEGINNING, _SAFE_BEGINNING = 3, 4
_SHORT_ENDING = 2
# How likely a noun means the same as a word derived from it, and several words that a longer name
# may have, too.
DERIVED, REWORDED = 0.9, 0.95
# Stands for the rest of a word in the rows of endings.
_STEM = "-"
_CACHED = 65_536
# The fields of one of the `Forms`.
_Row = tuple[int, int, float, bool]
# What words stand for, by the kind of the row and the word.
_Kinds = Mapping[str, dict[str, tuple[str, ...]]]


class EndingPair(NamedTuple):
    """Two endings.

    ending (str): The first one in alphabetical order; it may be empty.
    other (str): The other one.
    certainty (float): How likely words with these endings mean the same, 0 to 1.
    """

    ending: str
    other: str
    certainty: float = 1.0

    @property
    def shortest(self) -> int:
        """The minimum number of letters that words with these endings begin with, if they may be
        related: "ear" and "early" are not.

        RETURNS (int): The number.
        """
        is_short = min(len(self.ending), len(self.other)) < _SHORT_ENDING
        return _SAFE_BEGINNING if is_short else _SHORTEST_BEGINNING


class OtherEndings:
    """Replaces endings by others, in both directions."""

    def __init__(self, pairs: Iterable[EndingPair]) -> None:
        """Sort pairs by ending.

        pairs (Iterable[EndingPair]): The pairs.
        """
        self._pairs = defaultdict[str, list[tuple[str, int, EndingPair]]](list)
        for pair in pairs:
            self._pairs[pair.ending].append((pair.other, pair.shortest, pair))
            self._pairs[pair.other].append((pair.ending, pair.shortest, pair))

    def relatives_of(self, word: str) -> Iterator[tuple[str, EndingPair]]:
        """List the words with another ending.

        word (str): A normalized word.
        YIELDS (Tuple[str, EndingPair]): Words, most of which do not exist, and their endings.
        """
        for cut in range(_SHORTEST_BEGINNING, len(word) + 1):
            for other, shortest, pair in self._pairs.get(word[cut:], ()):
                if cut >= shortest:
                    yield word[:cut] + other, pair


class Forms(NamedTuple):
    """What a word may stand for, in f ways.

    hashes (np.ndarray): uint64 (f,): the hash of one noun, or of the bag of several words.
    least (Ints1d): int64 (f,): the minimum number of words in a text where the word stands for
        this.
    certainty (Floats1d): float64 (f,): how likely it means the same, 0 to 1: 1 for what longer
        names say for the word, and for the parts of a compound.
    are_adjectives (np.ndarray): bool (f,): whether it is an adjective of the word: in a text, only
        words after a preposition stand for these, as in "atrophy of the cerebellum".
    """

    hashes: np.ndarray
    least: np.ndarray
    certainty: np.ndarray
    are_adjectives: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[_Row]) -> "Forms":
        """Convert rows to arrays, which take a fraction of their memory.

        rows (Iterable[Tuple[int, int, float, bool]]): The fields of each form.
        RETURNS (Forms): The forms.
        """
        columns = list(zip(*rows, strict=True)) or [()] * len(cls._fields)
        return cls(*map(np.array, columns, ("uint64", "int64", "float64", "bool")))

    @classmethod
    def joined(cls, parts: Iterable["Forms"]) -> "Forms":
        """Put the forms of several words one after the other.

        parts (Iterable[Forms]): Those of each.
        RETURNS (Forms): All of them.
        """
        return cls(*map(np.concatenate, zip(NO_FORMS, *parts, strict=True)))

    def where(self, kept: np.ndarray | slice) -> "Forms":
        """Select forms by number, by a mask or by a range.

        RETURNS (Forms): Those selected.
        """
        return Forms(*(column[kept] for column in self))


NO_FORMS = Forms.of(())


class WordForms:
    """What the words of one language may stand for in the names of an ontology.

    roots (Mapping[str, Tuple[str, ...]]): The nouns of adjectives with another root, by adjective.
    states (Mapping[str, Tuple[str, ...]]): The nouns of what is said of a patient.
    ordinals (Mapping[str, str]): Ordinal numbers in words, by those in digits.
    changes (Mapping[str, Tuple[str, ...]]): What names say for a noun of change: "decrease".
    amounts (FrozenSet[str]): What names say of an amount: "increased".
    """

    def __init__(
        self, language: LanguageData, meanings: Iterable[Meaning], endings: Iterable[EndingPair]
    ) -> None:
        """Sort the rows of a language by kind.

        language (LanguageData): The language.
        meanings (Iterable[Meaning]): Its rows, see `Words.meanings`.
        endings (Iterable[EndingPair]): Endings that replace each other in the ontology.
        """
        kinds = defaultdict[str, dict[str, tuple[str, ...]]](dict)
        for row in meanings:
            kinds[row.kind][row.word] = row.stands_for
        self._classes = words = language.words
        self._participle_endings = tuple(words.participle_endings)
        self._prefixes = tuple(sorted(words.compound_prefixes))
        self.roots: Mapping[str, tuple[str, ...]] = kinds["root"]
        self.states: Mapping[str, tuple[str, ...]] = kinds["state"]
        self.changes: Mapping[str, tuple[str, ...]] = kinds["change"]
        self.ordinals = {number: others[0] for number, others in kinds["ordinal"].items()}
        self.amounts = frozenset(chain(kinds["amount"], *kinds["amount"].values()))
        self._adjectives = _inverted(self.roots)
        self._phrases = _phrases(kinds, words)
        self._endings = kinds["ending"]
        self._stem = language.stem
        self._listed = defaultdict[str, list[_Row]](list)
        for word, value, least in self._listed_rows(kinds):
            self._listed[word].append((value % MODULUS, least, 1.0, False))
        self._derivations = {row.ending: row for row in language.derivations}
        self._longest_ending = max(map(len, self._derivations), default=0)
        self._adjective_endings = _inverted(
            {row.ending: row.noun_endings for row in language.derivations if row.is_of_nouns}
        )
        self._other_endings = OtherEndings(
            pair._replace(certainty=min(DERIVED, pair.certainty)) for pair in endings
        )
        self.of = lru_cache(_CACHED)(self._of)

    def base_forms(self, word: str) -> dict[str, int]:
        """List the nouns that an adjective or another derived word may come from.

        word (str): A normalized word, see `Words.normalized`.
        RETURNS (Dict[str, int]): Normalized words, most of which do not exist, and the minimum
            number of words in a text where the word stands for each.
        """
        if word in self._classes.stop_words:
            return {}  # "several" does not mean "severe"
        nouns = dict.fromkeys((*self.roots.get(word, ()), *self.states.get(word, ())), 1)
        if word in self._classes.underived:
            return nouns
        for cut in range(max(0, len(word) - self._longest_ending), len(word) + 1):
            if (row := self._derivations.get(word[cut:])) is None:
                continue
            for ending in row.noun_endings:
                noun = word[:cut] + ending
                # A white arrow is not a whiting.
                is_verb = (
                    ending in self._classes.verb_endings and word in self._classes.plain_adjectives
                )
                if not is_verb and noun.startswith(word[:_SHORTEST_STEM]) and noun != word:
                    nouns.setdefault(noun, row.fewest)
        return nouns

    def adjectives_of(self, word: str) -> tuple[str, ...]:
        """List the adjectives of a noun: "retinal" for "retina".

        word (str): A normalized word, see `Words.normalized`.
        RETURNS (Tuple[str, ...]): Normalized words, each once. Most of them do not exist.
        """
        if word in self._classes.stop_words or len(word) < _SHORTEST_STEM:
            return ()
        adjectives = dict.fromkeys(self._adjectives.get(word, ()))
        for cut in range(_SHORTEST_STEM, len(word) + 1):
            for ending in self._adjective_endings.get(word[cut:], ()):
                if (adjective := word[:cut] + ending) not in self._classes.underived:
                    adjectives[adjective] = None
        return tuple(adjectives)

    def relatives_of(self, word: str) -> dict[str, float]:
        """List words with another ending that the ontology uses in its place: "bowed" for "bowing".

        word (str): A normalized word, see `Words.normalized`.
        RETURNS (Dict[str, float]): Normalized words, most of which do not exist, and how likely
            each means the same.
        """
        if word in self._classes.stop_words or word in self._classes.underived:
            return {}
        relatives = dict[str, float]()
        for other, endings in self._other_endings.relatives_of(word):
            if len(other) < len(word) or other not in self._classes.underived:
                relatives[other] = endings.certainty
        return relatives

    def paraphrases(self, word: str) -> tuple[tuple[str, ...], ...]:
        """List what names may say in other words: "kidney disease" for "nephropathy", "respiratory
        system" for "respiratory", "apoptotic process" for "apoptosis", and "diabetes mellitus" for
        "diabetes".

        word (str): A normalized word, see `Words.normalized`.
        RETURNS (Tuple[Tuple[str, ...], ...]): Bags of normalized words. Many of them are not names.
        """
        by_ending = (
            phrase.replace(_STEM, word.removesuffix(ending[1:]), 1)
            for ending, phrases in self._endings.items()
            if word.endswith(ending[1:])
            for phrase in phrases
        )
        return tuple(tuple(phrase.split()) for phrase in (*self._phrases.get(word, ()), *by_ending))

    def compounds(self, word: str) -> tuple[tuple[str, str], ...]:
        """List the two words that names may write a compound as: "pre-eclampsia" for
        "preeclampsia".

        word (str): A normalized word, see `Words.normalized`.
        RETURNS (Tuple[Tuple[str, str], ...]): Pairs of normalized words.
        """
        # Most words have none, and this is asked of each.
        if not word.startswith(self._prefixes):
            return ()
        pairs = (
            (prefix, word[len(prefix) :]) for prefix in self._prefixes if word.startswith(prefix)
        )
        return tuple(pair for pair in pairs if len(pair[1]) >= _SHORTEST_REST)

    def _of(self, word: str) -> Forms:
        """List what a word may stand for. It is called as `of`, which caches.

        word (str): A normalized word.
        RETURNS (Forms): Its `base_forms`, `relatives_of` it, `paraphrases` and `compounds`, what
            longer names say for it, and its adjectives.
        """
        return Forms.of([*self._rows(word)])

    def _rows(self, word: str) -> Iterator[_Row]:
        is_participle = word.endswith(self._participle_endings) and word not in self.states
        least = 2 if is_participle or word in self._classes.dependent_adjectives else 1
        for noun, fewest in self.base_forms(word).items():
            yield hash_word(noun), max(least, fewest), DERIVED, False
        for other, certainty in self.relatives_of(word).items():
            yield hash_word(other), 2, certainty, False
        for other in self.changes.get(word, ()):
            yield hash_word(other), 2, DERIVED, False
        for names in self.paraphrases(word):
            # "Chronische Pneumonie" for "chronische Lungenentzündung", which is two words.
            is_compound = len(names) > 1 and bool(self._classes.compound_heads)
            yield hash_bag(names), 1, REWORDED if is_compound else DERIVED, False
        yield from self._listed.get(word, ())
        for parts in self.compounds(word):
            yield hash_bag(parts), 1, 1.0, False
        for adjective in self.adjectives_of(word):
            yield hash_word(adjective), 2, DERIVED, True

    def _listed_rows(self, kinds: _Kinds) -> Iterator[tuple[str, int, int]]:
        """List what the tables say that words certainly stand for, beside other words of a name.

        kinds (Mapping[str, Dict[str, Tuple[str, ...]]]): The rows of each kind, by word.
        YIELDS (Tuple[str, int, int]): A word, a hash, and the minimum number of words in a text.
        """
        for number, ordinal in self.ordinals.items():
            yield ordinal, hash_bag(_digits_apart(number)), 2
        # What happens to a part of the body: "cholecystitis" for "gallbladder" beside
        # "inflammation".
        for part, beginnings in kinds["part"].items():
            words = (part, *self._adjectives.get(part, ()))
            for word, beginning, process in product(words, beginnings, kinds["process"]):
                for ending in kinds["process"][process]:
                    yield word, hash_word(self._stem(beginning + ending)) - hash_word(process), 2
        measures = sorted(self._classes.measures - kinds["within"].keys())
        measured = {word: (word, *others) for word, others in kinds["amount"].items()}
        for word, others in (measured | kinds["change"]).items():
            for other, measure in product(others, measures):
                # A name may leave out the measure: "elevated ferritin" for "elevated ferritin
                # level".
                yield word, hash_word(other) - hash_bag(tuple(measure.split())), 3
        # A word that no name has would end the window.
        for word in dict.fromkeys([*kinds["process"], *measures]):
            yield word, hash_word(word), 2
        # Texts often do not say what an amount is of, but longer names do.
        within = dict(kinds["within"])
        for word, others in kinds["amount"].items():
            longer = map(" ".join, product(others, sorted(self._classes.measures)))
            within[word] = (*(other for other in others if other != word), *longer)
        for word, phrases in within.items():
            for phrase in phrases:
                yield word, hash_bag(tuple(phrase.split())), 2


def _digits_apart(text: str) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The words of a text such as "2nd"."""
    return tuple("".join(part) for _, part in groupby(text, str.isdigit))


def _phrases(kinds: _Kinds, words: WordClasses) -> dict[str, list[str]]:
    """List what names say for a whole word."""
    phrases = defaultdict[str, list[str]](list)
    for kind, nouns in (("disease", words.disease_nouns), ("system", words.system_nouns)):
        for word, others in kinds[kind].items():
            phrases[word] += map(" ".join, product(others, sorted(nouns)))
    for word, others in kinds["name"].items():
        phrases[word] += others
    # The nouns of adjectives that are compounds.
    for kind in ("root", "state"):
        for word, others in kinds[kind].items():
            phrases[word] += (other for other in others if " " in other)
    return dict(phrases)


def _inverted(values: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    keys = defaultdict[str, list[str]](list)
    for key, items in values.items():
        for item in items:
            keys[item].append(key)
    return dict(keys)
