"""Persons who stand for the disease that they described: "Raynaud's", "Raynauds", "Guillain-Barré"
and "Duchenne".
"""

import re
from collections.abc import Iterator
from itertools import dropwhile

import numpy as np

from ..documents.token_texts import JoinedTexts
from ..lang import any_of
from ..text.bag_hashes import hash_bag
from ..text.words import Words

# What is rare comes first in these patterns, as in those of `readings.py`.
_PERSON = re.compile(r"([^\W\d_a-z](?<![^\W_].)[^\W\d_]{3,30})['’][sS]?(?![^\W_])(?:\s+([^\W_]+))?")
# The same without its apostrophe and perhaps its capital, or a plural.
_PERSONS = re.compile(r"([A-Za-z](?<![^\W_].)[a-z]{3,30})s(?![^\W_'’])(?:\s+([^\W_]+))?")
# One or several persons: "Guillain-Barré", "Charcot Marie Tooth".
_HYPHENS = "-\u2010\u2011\u2013"
_NAME = r"[^\W\d_a-z][^\W\d_]+"
_NAMES = re.compile(
    rf"([^\W\d_a-z](?<![^\W_].)(?<![{_HYPHENS}'’].)[^\W\d_]+(?:[{_HYPHENS} ]{_NAME}){{0,4}})"
    # A line that begins with a capital is another statement.
    r"(?![^\W_]|['’-])(?:\s+(?!(?<=\n)[A-Z])([^\W_]+))?"
)
_JOINER = re.compile(rf"[{_HYPHENS} ]")
_SHORTEST_NAME = 4
# "Usher type 1", "Sanfilippo A".
_KIND = re.compile(r"\d+[A-Za-z]?|[A-Z]")
# "J. Krabbe".
_INITIAL = re.compile(r"(?<![^\W_])[A-Z]\.?\s*\Z")
_SENTENCE_START = re.compile(r"(?:\A|[.:;?!\n])\s*\Z")
# How far before persons their noun may be, in characters.
_REACH = 40


class Eponyms:
    """Reads persons who stand for a disease in one language."""

    def __init__(self, words: Words) -> None:
        """Compile the words beside persons.

        words (Words): Reads the words of the language.
        """
        finder = words.language.finder
        self._words = words
        nouns = sorted(finder.person_diseases)
        self._diseases = [*map(hash_bag, map(words.known_bag, nouns))]
        # "Pompe disease, Krabbe" are two.
        self._inverted = re.compile(rf"(?i)(?:\A|[\n.;:(])\s*{any_of(nouns)},\s*\Z")
        # "Crohn's flare", but not "Fisher's exact test".
        self._after = words.classes.stop_words | finder.after_persons
        self._types = finder.type_nouns
        # A common word may be a name, too: "because of Lynch".
        self._introduction = re.compile(rf"(?i)(?<![^\W_]){any_of(finder.before_persons)}\s+\Z")

    def read(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """List what persons may stand for.

        texts (JoinedTexts): The documents.
        hashes (np.ndarray): uint64 (t,): the hashes of all tokens.
        YIELDS (Tuple[int, int, int]): A token, what the disease adds to its hash, and the minimum
            number of words with it.
        """
        if self._diseases:
            yield from self._owners(texts, hashes)
            yield from self._named(texts, hashes)

    def _owners(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """Read "Raynaud's", or "Raynauds", as Raynaud's syndrome, disease or phenomenon, whichever
        is a name.

        YIELDS (Tuple[int, int, int]): See `read`.
        """
        persons = [*_PERSON.finditer(texts.text)] if "'" in texts.text or "’" in texts.text else []
        persons += filter(self._is_person, _PERSONS.finditer(texts.text))
        for match in persons:
            place, owned = texts.token_before(match.end(1)), match[2] or ""
            if place is None:
                continue
            change = hash_bag(self._words.known_bag(match[1])) - int(hashes[place])
            if change:  # "Parkinsons", which the lexicon knows as a plural
                yield place, change, 2
            # "The Cushings described it", without an apostrophe, are two persons.
            has_apostrophe = not texts.text[match.end(1)].isalpha()
            if self._owns_nothing(owned) or (has_apostrophe and self._is_stated(owned)):
                yield from ((place, change + disease, 1) for disease in self._diseases)

    def _named(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """Read "Guillain-Barré" and "Duchenne" likewise, unless they have their noun: "Syndrome,
        Guillain-Barré".

        YIELDS (Tuple[int, int, int]): See `read`; of several persons, the last.
        """
        for match in _NAMES.finditer(texts.text):
            before = texts.text[max(0, match.start() - _REACH) : match.start()]
            owned, place = match[2] or "", texts.token_before(match.end(1))
            size = self._count(match[1], before, owned)
            if not size or place is None or not hashes[place]:
                continue
            if not self._inverted.search(before):
                yield from ((place, disease, size) for disease in self._diseases)

    def _count(self, run: str, before: str, owned: str) -> int:
        """Count the persons in a run of words with capitals.

        run (str): The words: "Guillain-Barré", "Probable Duchenne", "Hunter".
        before (str): The text before them.
        owned (str): The word after them.
        RETURNS (int): Their number; 0 if they are others, or real persons: "J. Krabbe".
        """
        if (" " in run and run.isupper()) or _INITIAL.search(before):
            return 0
        # Elsewhere, "Sister Graves" is a real person.
        is_first, names = bool(_SENTENCE_START.search(before)), _JOINER.split(run)
        persons = [*dropwhile(self._is_common, names)] if is_first and " " in run else names
        persons = persons or names[-1:]
        has_end = self._owns_nothing(owned) or _KIND.fullmatch(owned) is not None
        if len(persons) > 1:
            return len(persons) if has_end or self._is_stated(owned) else 0
        is_typed = owned.lower() in self._types
        is_introduced = is_typed or self._introduction.search(before) is not None
        is_known = not is_introduced and self._is_known(persons[0], is_first=is_first)
        return int((has_end or is_typed) and self._may_be_alone(persons[0]) and not is_known)

    def _may_be_alone(self, person: str) -> bool:
        is_long = len(person) >= _SHORTEST_NAME
        return is_long and not (person.isupper() or self._words.is_modifier(person))

    def _is_known(self, word: str, *, is_first: bool) -> bool:
        """Check for a word of the lexicon.

        word (str): A word with a capital.
        is_first (bool): Whether it begins a sentence, where all words have one. Elsewhere the
            lexicon takes "Gaucher" for a form of "gauche".
        RETURNS (bool): True if it is one.
        """
        lowered = word.lower()
        lemma = self._words.language.lemma(lowered)
        forms = (lowered, self._words.orthography.drop_plurals(lowered))
        return lemma is not None and (is_first or lemma.lower() in forms)

    def _is_common(self, word: str) -> bool:
        """Check for a word of the lexicon that is not a name."""
        lemma = self._words.language.lemma(word.lower())
        return lemma is not None and not lemma.istitle()

    def _is_person(self, match: re.Match[str]) -> bool:
        """Check for a word with a capital that is not a plural, such as "Fevers"."""
        return not self._is_common(match[0].split()[0])

    def _owns_nothing(self, word: str) -> bool:
        """Check for the end of a text, or a word that no person has: "Crohn's flare"."""
        return not word or word.lower() in self._after

    def _is_stated(self, word: str) -> bool:
        """Check for what a sentence says of a disease: "Sjögren's stable", "Crohn's confirmed"."""
        return self._words.may_be_stated(word) or self._words.is_quality(word.lower())
