"""Other words that tokens may stand for, by their neighbours: "pre-auricular" is one word, and "the
left clavicle" a clavicle.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from ..documents.token_texts import JoinedTexts
from ..lang import any_of
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from ..text.words import Words
from .eponyms import Eponyms
from .name_windows import Replacements

# What is rare comes first in these patterns, and then the check of what is before it: the search is
# three times as fast. A hyphen between two parts of a word, perhaps at the end of a line, and the
# first part.
_HYPHEN = re.compile(r"[-\u2010\u2011](?<=[^\W\d_].)(?:[ ]?\n[ ]?)?(?=([^\W\d_]{3,30})(?![^\W_]))")
_FIRST_PART = re.compile(r"(?<![^\W_])[^\W\d_]{2,20}\Z")
_LONGEST_PART = 20
# "UV-induced".
_SHORTEST_DRUG = 3
# "HIV-1", "HPV16": the short form of a virus, and its type.
_VIRUS = re.compile(r"([A-Z](?<![^\W_].)[A-Z]{1,3}V)[-\u2010\u2011 ]?(\d{1,2}[a-z]?)(?![^\W_])")
# A token, what another reading adds to its hash, and the minimum number of words with it.
_Neighboured = tuple[int, int, int]


class NeighbourReader:
    """Reads the neighbours of tokens in one language."""

    def __init__(self, words: Words) -> None:
        """Compile the words beside tokens.

        words (Words): Reads the words of the language.
        """
        finder = words.language.finder
        self._words = words
        self._finder = finder
        self._eponyms = Eponyms(words)
        genitives = any_of(finder.genitives)
        # What names do not have, and the word that stays.
        left_out = (
            # The left ventricle is of the heart; others are of the brain.
            rf"\s(?<=[^\W_](?P<kept>)\s)\s*(?:{any_of(finder.genitives | finder.places)}"
            rf"\s+(?:{any_of(finder.side_articles)}\s+)?)?"
            rf"(?P<left_out>{any_of(finder.long_sides)}|(?-i:[LR]))\b"
            rf"(?!\s+{any_of(finder.sided_organs)})",
            rf"\b(?P<left_out>{any_of(finder.type_nouns)})"
            r"\s+(?P<kept>\d+[a-z]?|[IVX]+[a-d]?)(?![^\W_])",
            rf"\s{genitives}\s+(?:{any_of(words.classes.determiners)}\s+)?"
            rf"(?P<kept>[\w-]+)\s+(?P<left_out>{any_of(finder.kind_nouns)})\b",
        )
        self._left_out = [re.compile(f"(?i){pattern}") for pattern in left_out]
        # "Levodopa-induced dyskinesia" is drug-induced, unless something else or a disorder induces
        # it.
        self._induced = re.compile(rf"[-\u2010\u2011 ]{any_of(finder.caused_endings)}\b")

    def read(self, texts: JoinedTexts, hashes: np.ndarray) -> Replacements:
        """List what tokens may stand for by what is before or after them.

        texts (JoinedTexts): The documents.
        hashes (np.ndarray): uint64 (t,): the hashes of all tokens.
        RETURNS (Replacements): Other words, by token.
        """
        readers = (self._eponyms.read, self._compounds, self._drugs, self._viruses)
        return _certain(chain.from_iterable(read(texts, hashes) for read in readers))

    def read_left_out(self, texts: JoinedTexts, hashes: np.ndarray) -> Replacements:
        """List where names leave out what stands beside a token, whatever this stands for.

        texts (JoinedTexts): The documents.
        hashes (np.ndarray): uint64 (t,): the hashes of all tokens.
        RETURNS (Replacements): What leaves it out, by token.
        """
        return _certain(self._kept(texts, hashes))

    def _compounds(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Join words that are split by a hyphen: "pre-auricular", and "hyper-" at the end of a
        line.

        YIELDS (Tuple[int, int, int]): Each of the two tokens.
        """
        for match in _HYPHEN.finditer(texts.text):
            hyphen = match.start()
            part = _FIRST_PART.search(texts.text, max(0, hyphen - _LONGEST_PART), hyphen)
            if part is None:
                continue
            first, last = map(texts.token_before, (hyphen, match.end(1)))
            words = self._words.normalized(part[0] + match[1])
            if first is not None and last is not None and len(words) == 1:
                change = hash_word(words[0]) - int(hashes[first]) - int(hashes[last])
                yield first, change, 2
                yield last, change, 2

    def _drugs(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Read "levodopa-induced dyskinesia" as drug-induced.

        YIELDS (Tuple[int, int, int]): The drugs.
        """
        for match in self._induced.finditer(texts.text):
            drug = texts.token_before(match.start())
            if drug is not None and hashes[drug] and self._may_be_drug(texts.tokens[drug].lower()):
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

    def _kept(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Leave out the side in "fracture of the left clavicle" and "undescended L testis", and
        "type" in "mucopolysaccharidosis type VII" and "anemia of the sideroblastic type", in
        windows that begin before it.

        YIELDS (Tuple[int, int, int]): The words that stay, and those left out.
        """
        for match in chain.from_iterable(one.finditer(texts.text) for one in self._left_out):
            kept, left_out = (texts.token_before(match.end(part)) for part in ("kept", "left_out"))
            # Only words have readings: in "the left clavicle", there is none before the side.
            if kept is not None and left_out is not None and hashes[kept]:
                yield kept, -int(hashes[left_out]), 3
                # A word that no name has would end the window.
                yield left_out, 0, 3

    def _viruses(self, texts: JoinedTexts, hashes: np.ndarray) -> Iterator[_Neighboured]:
        """Leave out the type of a virus that names do not have: "HIV-1 infection".

        YIELDS (Tuple[int, int, int]): The numbers, and what is before those that are tokens.
        """
        for match in _VIRUS.finditer(texts.text):
            virus, number = (texts.token_before(match.end(part)) for part in (1, 2))
            if virus is not None and number is not None:
                yield number, -hash_bag(self._words.known_bag(match[2])), 2 + (virus < number)


def _certain(readings: Iterable[_Neighboured]) -> Replacements:
    """Convert readings to arrays. Their neighbours leave no doubt."""
    return Replacements.of(
        (place, change % MODULUS, 1.0, least) for place, change, least in readings
    )
