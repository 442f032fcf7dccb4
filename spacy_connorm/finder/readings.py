"""Other words that tokens may stand for, by their neighbours: "Raynaud's" is Raynaud's disease,
"pre-auricular" one word, and "the left clavicle" a clavicle.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..text.bag_hashes import MODULUS, hash_word
from ..text.words import words_of
from .name_windows import Replacements

_EN = words_of("en")
FUNCTION_WORDS = _EN.classes.stop_words
normalized_words = _EN.normalized
is_head = _EN.is_head

# Two parts of a word, and a hyphen between them, perhaps at the end of a line.
_HYPHENATED = re.compile(
    r"(?<![^\W_])([^\W\d_]{2,20})[-\u2010\u2011](?:[ ]?\n[ ]?)?(?=([^\W\d_]{3,30})(?![^\W_]))"
)
# What the names of a disease add to the person who described it.
_AFTER_PERSONS = ("syndrome", "disease", "phenomenon", "disorder")
_PERSON = re.compile(r"(?<![^\W_])([^\W\d_a-z][^\W\d_]{3,30})['’][sS]?(?![^\W_])(?:\s+([^\W_]+))?")
# "Crohn's flare", but not "Fisher's exact test".
_OF_DISEASES = """
diagnosis flare flares medication onset patient patients relapse remission surgery symptoms therapy
treatment
"""
_AFTER_OWNED = FUNCTION_WORDS | set(_OF_DISEASES.split())
# The left ventricle is of the heart; others are of the brain.
_SIDE = re.compile(
    r"(?i)\b([^\W_]+)\s+(?:(?:of|in|on)\s+(?:the\s+|his\s+|her\s+)?)?(left|right|(?-i:[LR]))\b"
    r"(?!\s+(?:atri|heart|ventric))"
)
# "CD4+", "HER2-".
_MARKER = re.compile(
    r"(?<![^\W_])(?=[a-z]{0,9}[A-Z0-9])([A-Za-z][A-Za-z0-9]{1,11})(?:([+])|[-\u2212](?![^\W_]))"
)
# "Levodopa-induced dyskinesia" is drug-induced, unless one of these or a disorder induces it.
_INDUCED = re.compile(r"[-\u2010\u2011 ]induced\b")
_NO_DRUGS = """
alcohol allergen allergy antigen carcinogen cold diet drug endotoxin ethanol exercise food heat
immune ischaemia ischemia laser light noise pregnancy pressure radiation self sleep smoking stimulus
stress sun toxin trauma vaccine virus
"""
_OTHER_CAUSES = frozenset(_NO_DRUGS.split())
_INDUCING = ("drug", "substance")
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


def as_replacements(readings: Iterable[tuple[int, int, float, int]]) -> Replacements:
    """Convert readings to arrays.

    readings (Iterable[Tuple[int, int, float, int]]): A token and the fields of its reading each.
    RETURNS (Replacements): The readings.
    """
    columns = list(zip(*readings, strict=True)) or [()] * 4
    types = ("int64", "uint64", "float64", "int64")
    return Replacements(*map(np.array, columns, types))


NO_READINGS = as_replacements(())


def read_neighbours(
    docs: Sequence[Doc], texts: Sequence[str], offsets: Sequence[int], hashes: np.ndarray
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
        for place, change, least in _read_document(doc, text, hashes[before:])
    )


def _read_document(doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
    if "-" in text or "\u2010" in text or "\u2011" in text:
        yield from _compounds(doc, text, hashes)
    if "'" in text or "’" in text:
        yield from _persons(doc, text)
    if "+" in text or "-" in text or "\u2212" in text:
        yield from _markers(doc, text)
    if "induced" in text:
        yield from _drugs(doc, text, hashes)
    yield from _sides(doc, text, hashes)


def _compounds(doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
    """Join words that are split by a hyphen: "pre-auricular", and "hyper-" at the end of a line.

    YIELDS (Tuple[int, int, int]): Each of the two tokens.
    """
    for match in _HYPHENATED.finditer(text):
        first, last = (_token(doc, match.span(part)) for part in (1, 2))
        words = normalized_words(match[1] + match[2])
        if first is not None and last is not None and len(words) == 1:
            change = hash_word(words[0]) - int(hashes[first]) - int(hashes[last])
            yield first, change, 2
            yield last, change, 2


def _persons(doc: Doc, text: str) -> Iterator[_Neighboured]:
    """Read "Raynaud's" as Raynaud's syndrome, disease or phenomenon, whichever is a name.

    YIELDS (Tuple[int, int, int]): The persons.
    """
    for match in _PERSON.finditer(text):
        person, owned = _token(doc, match.span(1)), match[2]
        if person is not None and (owned is None or owned.lower() in _AFTER_OWNED):
            yield from ((person, hash_word(each), 1) for each in _AFTER_PERSONS)


def _markers(doc: Doc, text: str) -> Iterator[_Neighboured]:
    """Read "CD14+ monocytes" as CD14-positive, "HER2-" as HER2 negative.

    YIELDS (Tuple[int, int, int]): The markers.
    """
    for match in _MARKER.finditer(text):
        marker = _token(doc, match.span(1))
        if marker is not None:
            yield marker, hash_word("positive" if match[2] else "negative"), 2


def _drugs(doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
    """Read "levodopa-induced dyskinesia" as drug-induced.

    YIELDS (Tuple[int, int, int]): The drugs.
    """
    for match in _INDUCED.finditer(text):
        drug = _token(doc, (match.start() - 1, match.start()))
        if drug is not None and hashes[drug] and _may_be_drug(doc[drug].lower_):
            yield from ((drug, hash_word(each) - int(hashes[drug]), 3) for each in _INDUCING)


def _may_be_drug(cause: str) -> bool:
    is_other = cause in _OTHER_CAUSES or cause.endswith("ly") or is_head(cause)
    return len(cause) >= _SHORTEST_DRUG and not is_other


def _sides(doc: Doc, text: str, hashes: np.ndarray) -> Iterator[_Neighboured]:
    """Leave out the side in "fracture of the left clavicle" and "undescended L testis", in windows
    that begin before it.

    YIELDS (Tuple[int, int, int]): The words before "of" or the side, and the sides.
    """
    for match in _SIDE.finditer(text):
        before, side = (_token(doc, match.span(part)) for part in (1, 2))
        # Only words have readings: in "the left clavicle", there is none before the side.
        if before is not None and side is not None and hashes[before]:
            yield before, -int(hashes[side]), 3
            # A word that no name has would end the window.
            yield side, 0, 3


def _token(doc: Doc, characters: tuple[int, int]) -> int | None:
    """Find the token in which some characters end."""
    span = doc.char_span(*characters, alignment_mode="expand")
    return None if span is None else span.end - 1
