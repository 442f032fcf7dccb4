"""Other words that tokens may stand for, by their neighbours: "Raynaud's" is Raynaud's disease,
"pre-auricular" one word, and "the left clavicle" a clavicle.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..text.bag_hashes import MODULUS, hash_word
from ..text.words import Words
from .name_windows import Replacements

# Two parts of a word, and a hyphen between them, perhaps at the end of a line.
_HYPHENATED = re.compile(
    r"(?<![^\W_])([^\W\d_]{2,20})[-\u2010\u2011](?:[ ]?\n[ ]?)?(?=([^\W\d_]{3,30})(?![^\W_]))"
)
_PERSON = re.compile(r"(?<![^\W_])([^\W\d_a-z][^\W\d_]{3,30})['’][sS]?(?![^\W_])(?:\s+([^\W_]+))?")
_START = attrgetter("idx")
# "UV-induced".
_SHORTEST_DRUG = 3
# A token, what another reading adds to its hash, and the minimum number of words with it.
_Neighboured = tuple[int, int, int]


class Reading(NamedTuple):
    """Other words that a token may stand for.

    change (int): What they add to the hash of a window, modulo 2^64.
    certainty (float): How likely they mean the same, 0 to 1.
    least (int): The minimum number of words in a window with this reading.
    """

    change: int
    certainty: float
    least: int


# The fields of a `Reading` in an array.
READINGS = np.dtype([("change", "uint64"), ("certainty", "float64"), ("least", "int64")])


def as_readings(readings: Iterable[Reading]) -> np.ndarray:
    """Convert readings to an array.

    RETURNS (np.ndarray): `READINGS` (r,).
    """
    return np.array([*readings], dtype=READINGS)


def as_replacements(readings: Iterable[tuple[int, int, float, int]]) -> Replacements:
    """Convert readings to arrays.

    readings (Iterable[Tuple[int, int, float, int]]): A token and the fields of its reading each.
    RETURNS (Replacements): The readings.
    """
    columns = list(zip(*readings, strict=True)) or [()] * 4
    types = ("int64", "uint64", "float64", "int64")
    return Replacements(*map(np.array, columns, types))


NO_READINGS = as_replacements(())


def _token(doc: Doc, characters: tuple[int, int]) -> int | None:
    """Find the token in which some characters end, faster than `doc.char_span`, which joins the
    whole text each time.
    """
    last = characters[1] - 1
    place = bisect_right(doc, last, key=_START) - 1
    return place if place >= 0 and last < doc[place].idx + len(doc[place]) else None


def _any(words: Iterable[str]) -> str:
    """RETURNS (str): A pattern that matches any of some words; none if there are none."""
    return f"(?:{'|'.join(sorted(words))})" if words else "(?!)"


class NeighbourReader:
    """Reads the neighbours of tokens in one language."""

    def __init__(self, words: Words) -> None:
        """Compile the words beside tokens.

        words (Words): Reads the words of the language.
        """
        finder = words.language.finder
        self._words = words
        self._finder = finder
        # "Crohn's flare", but not "Fisher's exact test".
        self._after_persons = words.classes.stop_words | finder.after_persons
        # The left ventricle is of the heart; others are of the brain.
        self._side = re.compile(
            rf"(?i)\b([^\W_]+)\s+(?:{_any(finder.genitives | finder.places)}"
            rf"\s+(?:{_any(finder.side_articles)}\s+)?)?({_any(finder.long_sides)}|(?-i:[LR]))\b"
            rf"(?!\s+{_any(finder.sided_organs)})"
        )
        # "Levodopa-induced dyskinesia" is drug-induced, unless something else or a disorder induces
        # it.
        self._induced = re.compile(rf"[-\u2010\u2011 ]{_any(finder.caused_endings)}\b")

    def read(
        self, docs: Sequence[Doc], texts: Sequence[str], offsets: Sequence[int], hashes: np.ndarray
    ) -> Replacements:
        """List what tokens may stand for by what is before or after them.

        docs (Sequence[Doc]): The documents.
        texts (Sequence[str]): Their texts.
        offsets (Sequence[int]): See `token_words.document_offsets`.
        hashes (np.ndarray): uint64 (t,): the hashes of all tokens.
        RETURNS (Replacements): Other words, by token.
        """
        return as_replacements(
            (before + place, change % MODULUS, 1.0, least)
            for doc, text, before in zip(docs, texts, offsets, strict=False)
            for place, change, least in self._read_document(doc, text, hashes[before:])
        )

    def _read_document(self, doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
        if "-" in text or "\u2010" in text or "\u2011" in text:
            yield from self._compounds(doc, text, hashes)
        if "'" in text or "’" in text:
            yield from self._persons(doc, text)
        if any(ending in text for ending in self._finder.caused_endings):
            yield from self._drugs(doc, text, hashes)
        yield from self._sides(doc, text, hashes)

    def _compounds(self, doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Join words that are split by a hyphen: "pre-auricular", and "hyper-" at the end of a
        line.

        YIELDS (Tuple[int, int, int]): Each of the two tokens.
        """
        for match in _HYPHENATED.finditer(text):
            first, last = (_token(doc, match.span(part)) for part in (1, 2))
            words = self._words.normalized(match[1] + match[2])
            if first is not None and last is not None and len(words) == 1:
                change = hash_word(words[0]) - int(hashes[first]) - int(hashes[last])
                yield first, change, 2
                yield last, change, 2

    def _persons(self, doc: Doc, text: str) -> Iterator[_Neighboured]:
        """Read "Raynaud's" as Raynaud's syndrome, disease or phenomenon, whichever is a name.

        YIELDS (Tuple[int, int, int]): The persons.
        """
        for match in _PERSON.finditer(text):
            person, owned = _token(doc, match.span(1)), match[2]
            if person is not None and (owned is None or owned.lower() in self._after_persons):
                yield from (
                    (person, hash_word(noun), 1) for noun in sorted(self._finder.person_diseases)
                )

    def _drugs(self, doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Read "levodopa-induced dyskinesia" as drug-induced.

        YIELDS (Tuple[int, int, int]): The drugs.
        """
        for match in self._induced.finditer(text):
            drug = _token(doc, (match.start() - 1, match.start()))
            if drug is not None and hashes[drug] and self._may_be_drug(doc[drug].lower_):
                yield from (
                    (drug, hash_word(noun) - int(hashes[drug]), 3)
                    for noun in sorted(self._finder.inducing)
                )

    def _may_be_drug(self, cause: str) -> bool:
        is_other = (
            cause in self._finder.other_causes
            or cause.endswith(tuple(self._finder.adverb_endings))
            or self._words.is_head(cause)
        )
        return len(cause) >= _SHORTEST_DRUG and not is_other

    def _sides(self, doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Leave out the side in "fracture of the left clavicle" and "undescended L testis", in
        windows that begin before it.

        YIELDS (Tuple[int, int, int]): The words before "of" or the side, and the sides.
        """
        for match in self._side.finditer(text):
            before, side = (_token(doc, match.span(part)) for part in (1, 2))
            # Only words have readings: in "the left clavicle", there is none before the side.
            if before is not None and side is not None and hashes[before]:
                yield before, -int(hashes[side]), 3
                # A word that no name has would end the window.
                yield side, 0, 3
