"""Windows of a text that have exactly the words of a name, in any order. One of the words may be
derived from that of the name: "retinal" for "retina".
"""

from typing import NamedTuple

import numpy as np

from .known_names import KnownNames

# Kinds of tokens: those that a window may have besides its words, words, punctuation that it may
# have where the name has it too, and those that end it.
FILLER, WORD, PAUSE, BREAK = 0, 1, 2, 3
# What a pause consists of.
PAUSES = ".,;()[]"
# At most how many fillers between two words. It bounds the length of windows.
_MAX_FILLERS = 3
# At most how many words a window with a derived word has: longer ones are rare, and cost much.
_MAX_DERIVED = 4


class TokenArrays(NamedTuple):
    """The t tokens of some documents, one after the other.

    hashes (np.ndarray): uint64 (t,): the sum of the hashes of a token's words; 0 if it has none.
    sizes (Ints1d): int32 (t,): how many words a token has.
    letters (Ints1d): int32 (t,): how many letters and digits these have.
    kinds (Ints1d): uint8 (t,): `FILLER`, `WORD`, `PAUSE` or `BREAK`.
    ends (Ints1d): int64 (t,): the token after it, or after the last of several that stand for
        one word or one short form.
    derived (Ints1d): int64 (d,): tokens that may be derived from other words, once for each.
    changes (np.ndarray): uint64 (d,): what each of these words adds to the hash of its token,
        modulo 2^64.
    """

    hashes: np.ndarray
    sizes: np.ndarray
    letters: np.ndarray
    kinds: np.ndarray
    ends: np.ndarray
    derived: np.ndarray
    changes: np.ndarray


class Windows(NamedTuple):
    """n windows of tokens.

    starts (Ints1d): int64 (n,): the first token of each.
    ends (Ints1d): int64 (n,): the token after each.
    hashes (np.ndarray): uint64 (n,): the hash of the bag of the name of each.
    letters (Ints1d): int32 (n,): how many letters and digits the words of each have.
    are_derived (np.ndarray): bool (n,): whether a word of each is derived from that of the name.
    have_pauses (np.ndarray): bool (n,): whether there is a pause between the words of each.
    """

    starts: np.ndarray
    ends: np.ndarray
    hashes: np.ndarray
    letters: np.ndarray
    are_derived: np.ndarray
    have_pauses: np.ndarray


def find_windows(tokens: TokenArrays, known: KnownNames, *, max_words: int) -> Windows:
    """Find the windows whose words are those of a name. A window starts and ends with a word, and
    has only words that some name has.

    tokens (TokenArrays): The tokens.
    known (KnownNames): The names.
    max_words (int): At most how many tokens of a window are words.
    RETURNS (Windows): The windows, by length.
    """
    is_word = tokens.kinds == WORD
    single = _have_known_words(tokens, known)
    tokens = _with_known_forms(tokens, known)
    single[tokens.derived] = True
    places = np.flatnonzero(is_word & single)
    runs = _runs(tokens, places, is_break=(tokens.kinds == BREAK) | (is_word & ~single))
    hashes, sizes, letters = (
        np.concatenate([np.zeros(1, each.dtype), np.cumsum(each[places], dtype=each.dtype)])
        for each in (tokens.hashes, tokens.sizes, tokens.letters)
    )
    first, found = np.arange(len(places)), []
    for length in range(1, max_words + 1):
        first = first[: np.searchsorted(first, len(places) - length, side="right")]
        is_whole = runs[first] == runs[first + length - 1]
        first = first[is_whole & (sizes[first + length] - sizes[first] <= known.longest)]
        if not len(first):
            break
        values = hashes[first + length] - hashes[first]
        matching = known.contain(values)
        found.append((first[matching], first[matching] + length, values[matching]))
    written = sum(len(starts) for starts, _, _ in found)
    found.append(
        _derived_windows(tokens, known, places, runs, hashes, min(max_words, _MAX_DERIVED))
    )
    start, end, values = map(np.concatenate, zip(*found, strict=True))
    pauses = np.cumsum(tokens.kinds == PAUSE)[places]
    return Windows(
        places[start],
        tokens.ends[places[end - 1]],
        values,
        letters[end] - letters[start],
        np.arange(len(start)) >= written,
        pauses[start] < pauses[end - 1],
    )


def _have_known_words(tokens: TokenArrays, known: KnownNames) -> np.ndarray:
    """RETURNS (np.ndarray): bool (t,): false for tokens of one word that no name has."""
    # Most tokens occur again and again: each distinct one is searched once.
    distinct, which = np.unique(tokens.hashes, return_inverse=True)
    return known.have_words(distinct)[which] | (tokens.sizes > 1)


def _with_known_forms(tokens: TokenArrays, known: KnownNames) -> TokenArrays:
    """RETURNS (TokenArrays): Without words that no name has."""
    words = tokens.hashes[tokens.derived] + tokens.changes
    kept = known.have_words(words)
    return tokens._replace(derived=tokens.derived[kept], changes=tokens.changes[kept])


def _derived_windows(
    tokens: TokenArrays,
    known: KnownNames,
    places: np.ndarray,
    runs: np.ndarray,
    hashes: np.ndarray,
    max_words: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """RETURNS (Tuple[np.ndarray, np.ndarray, np.ndarray]): The first and the last place, and the
    hash, of each window that is a name when one of its words is replaced.
    """
    place, changes = np.searchsorted(places, tokens.derived), tokens.changes
    shapes = [(before, size) for size in range(1, max_words + 1) for before in range(size)]
    before, size = np.array(shapes).T[:, :, np.newaxis]
    start, end = np.broadcast_arrays(place - before, place - before + size)
    changes = np.broadcast_to(changes, start.shape)
    inside = (start >= 0) & (end <= len(places))
    start, end, changes = start[inside], end[inside], changes[inside]
    is_whole = runs[start] == runs[end - 1]
    start, end, changes = start[is_whole], end[is_whole], changes[is_whole]
    values = hashes[end] - hashes[start] + changes
    matching = known.contain(values)
    return start[matching], end[matching], values[matching]


def _runs(tokens: TokenArrays, places: np.ndarray, *, is_break: np.ndarray) -> np.ndarray:
    """RETURNS (Ints1d): int64: a number for each word; those with the same may share a window."""
    if not len(places):
        return np.zeros(0, dtype="int64")
    breaks = np.cumsum(is_break)[places]
    gaps = places[1:] - tokens.ends[places[:-1]]
    is_new = (breaks[1:] != breaks[:-1]) | (gaps > _MAX_FILLERS)
    return np.concatenate([np.zeros(1, "int64"), np.cumsum(is_new)])
