"""Find the windows of a text that have exactly the words of a name, in any order. One or two words
may be replaced by others: "retinal" by "retina", "cutaneous anomaly" by "abnormality of the skin",
"lower jaw" by "mandible".
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..files.arrays import list_ranges
from ..index.hash_sets import MOST_WORDS, HashSet
from ..text.word_forms import DERIVED
from .known_names import KnownNames

# Kinds of tokens: fillers that a window may have in addition to its words, words, punctuation that
# it may have where the name has it too, tokens that end it, words that a name may lack, parts of
# verbs, which do not count as fillers, and the brackets around a short form that they define, which
# a name may lack with it.
FILLER, WORD, PAUSE, BREAK, ADVERB, VERB, BRACKET = 0, 1, 2, 3, 4, 5, 6
# The characters of a pause.
PAUSES = ".,;()[]"
# The maximum number of fillers between two words. It limits the length of windows.
_MAX_FILLERS = 3
# The maximum number of words in a window, in one with a replaced word, and in one with two: longer
# ones are rare and costly.
_MAX_WORDS = 8
_MAX_REPLACED = 6
_MAX_PAIRED = 4
# How far the word is that a substitution needs, in tokens.
_COMPANY = 4
# Words of at most this many letters are not replaced: "N" is not a nerve.
_SHORT = 2
# The minimum certainty of two replaced words together.
_LEAST_OF_TWO = 0.7


class TokenArrays(NamedTuple):
    """The t tokens of some documents, one after the other.

    hashes (np.ndarray): uint64 (t,): the sum of the hashes of a token's words; 0 if it has none.
    sizes (Ints1d): int32 (t,): the number of words of each token.
    letters (Ints1d): int32 (t,): the number of letters and digits in these words.
    kinds (Ints1d): uint8 (t,): `FILLER`, `WORD`, `PAUSE`, `BREAK`, `ADVERB`, `VERB` or `BRACKET`.
    ends (Ints1d): int64 (t,): the token after it, or after the last of several that form one word
        or one short form.
    written (np.ndarray): uint64 (t,): the hashes before short forms got the words of their long
        forms.
    readings (Replacements): other words that tokens may stand for, by token.
    are_added (np.ndarray): bool (t,): whether a window may have a token in addition to the words of
        its name: an adverb, a part of a verb, and the brackets around a short form.
    """

    hashes: np.ndarray
    sizes: np.ndarray
    letters: np.ndarray
    kinds: np.ndarray
    ends: np.ndarray
    written: np.ndarray
    readings: "Replacements"
    are_added: np.ndarray

    @property
    def are_words(self) -> np.ndarray:
        """Which tokens have words, so that windows may begin and end with them.

        RETURNS (np.ndarray): bool (t,).
        """
        return (self.kinds == WORD) | (self.kinds == ADVERB)


class Windows(NamedTuple):
    """n windows of tokens.

    starts (Ints1d): int64 (n,): the first token of each.
    ends (Ints1d): int64 (n,): the token after each.
    hashes (np.ndarray): uint64 (n,): the hash of the bag of words of each one's name.
    letters (Ints1d): int32 (n,): the number of letters and digits in the words of each.
    certainty (Floats1d): float64 (n,): how likely each means the name; 1.0 if it has the name's
        words.
    have_pauses (np.ndarray): bool (n,): whether there is a pause between the words of each.
    """

    starts: np.ndarray
    ends: np.ndarray
    hashes: np.ndarray
    letters: np.ndarray
    certainty: np.ndarray
    have_pauses: np.ndarray


class Replacements(NamedTuple):
    """Words that can replace others.

    places (Ints1d): int64 (r,): the positions of the replaced words, ascending.
    changes (np.ndarray): uint64 (r,): what the replacements add to the hash of a window, modulo
        2^64.
    certainty (Floats1d): float64 (r,): how likely the meaning stays the same, 0 to 1.
    least (Ints1d): int64 (r,): the minimum number of words in a window with this replacement: the
        unchanged words of the name show that the replacement fits.
    """

    places: np.ndarray
    changes: np.ndarray
    certainty: np.ndarray
    least: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, float, int]]) -> "Replacements":
        """Convert rows to arrays.

        rows (Iterable[Tuple[int, int, float, int]]): The fields of each replacement.
        RETURNS (Replacements): The replacements.
        """
        columns = list(zip(*rows, strict=True)) or [()] * len(cls._fields)
        return cls(*map(np.array, columns, ("int64", "uint64", "float64", "int64")))

    @classmethod
    def joined(cls, parts: Iterable["Replacements"]) -> "Replacements":
        """Join several lists of replacements.

        RETURNS (Replacements): All of them, sorted by position.
        """
        columns = cls(*map(np.concatenate, zip(*parts, strict=True)))
        return columns.where(np.argsort(columns.places, kind="stable"))

    def where(self, kept: np.ndarray) -> "Replacements":
        """Select replacements by number or by a mask.

        RETURNS (Replacements): Those selected.
        """
        return Replacements(*(column[kept] for column in self))


class _Words(NamedTuple):
    """The words of all tokens that a window may have.

    places (Ints1d): int64 (w,): their tokens.
    ends (Ints1d): int64 (w,): the token after each.
    firsts (Ints1d): int64 (w,): the first word of the run of each. No window goes across the end of
        a run.
    lasts (Ints1d): int64 (w,): the word after this run.
    hashes (np.ndarray): uint64 (w + 1,): running sums of their hashes, modulo 2^64.
    sizes (Ints1d): int32 (w + 1,): running sums of the numbers of their words.
    letters (Ints1d): int32 (w + 1,): running sums of the numbers of their letters.
    pauses (Ints1d): int64 (w,): how many pauses are before each.
    """

    places: np.ndarray
    ends: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    hashes: np.ndarray
    sizes: np.ndarray
    letters: np.ndarray
    pauses: np.ndarray

    @classmethod
    def at(cls, tokens: TokenArrays, places: np.ndarray, is_break: np.ndarray) -> "_Words":
        """Collect the words of some tokens.

        tokens (TokenArrays): All tokens.
        places (Ints1d): int64 (w,): the positions of those to collect, ascending.
        is_break (np.ndarray): bool (t,): whether no window goes across a token.
        RETURNS (_Words): The words.
        """
        columns = (tokens.hashes, tokens.sizes, tokens.letters)
        hashes, sizes, letters = (_running_sums(column[places]) for column in columns)
        firsts, lasts = _runs(tokens, places, is_break=is_break)
        pauses = np.cumsum((tokens.kinds == PAUSE) | (tokens.kinds == BRACKET))[places]
        return cls(places, tokens.ends[places], firsts, lasts, hashes, sizes, letters, pauses)

    def named(
        self,
        start: np.ndarray,
        end: np.ndarray,
        known: KnownNames | HashSet,
        changes: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Windows]:
        """Find the windows that are names after their hashes are changed.

        start (Ints1d): int64 (n,): the first word of each.
        end (Ints1d): int64 (n,): the word after each.
        known (Union[KnownNames, HashSet]): The names, or the hashes of their bags of words.
        changes (Optional[np.ndarray]): uint64 (n,): what to add to the hash of each.
        RETURNS (Tuple[Ints1d, Windows]): The numbers of those that are names, and their tokens.
        """
        values = self.hashes[end] - self.hashes[start]
        if changes is not None:
            values += changes
        matching = np.flatnonzero(known.contain(values))
        start, end = start[matching], end[matching]
        windows = Windows(
            self.places[start],
            self.ends[end - 1],
            values[matching],
            self.letters[end] - self.letters[start],
            np.ones(len(matching)),
            self.pauses[start] < self.pauses[end - 1],
        )
        return matching, windows


def find_windows(tokens: TokenArrays, known: KnownNames, *, min_certainty: float) -> Windows:
    """Find the windows whose words are those of a name, or can be replaced by them. A window starts
    and ends with a word.

    tokens (TokenArrays): The tokens.
    known (KnownNames): The names.
    min_certainty (float): Leave out windows that are less certain to mean the name.
    RETURNS (Windows): The windows, by length.
    """
    replaced = _replacements(tokens, known, min_certainty)
    replaced = replaced.where(tokens.are_words[replaced.places])
    # Tokens of several words may together be the words of a name.
    single = known.have_words(tokens.hashes) | (tokens.sizes > 1)
    single[replaced.places] = True
    is_short = tokens.written != tokens.hashes
    single[is_short] |= known.have_words(tokens.written[is_short])
    places = np.flatnonzero(tokens.are_words & single)
    is_break = (tokens.kinds == BREAK) | ((tokens.kinds == WORD) & ~single)
    words = _Words.at(tokens, places, is_break)
    first, longest = np.arange(len(places)), known.longest
    parts = [*_written(words, first, known, longest), *_replaced(words, replaced, known)]
    # "IgA nephropathy" has the short form in its name.
    written = words._replace(hashes=_running_sums(tokens.written[places]))
    others = replaced.where(~is_short[replaced.places])
    parts += _around(written, np.flatnonzero(is_short[places]), others, known)
    # "VHL" may be a name where its long form, "von Hippel-Lindau", is not.
    unnamed = np.flatnonzero(is_short[places] & ~known.contain(tokens.hashes[places]))
    parts.append(next(_written(written, unnamed, known, longest)))
    parts += _without_additions(tokens, places, is_break, replaced, known)
    return Windows(*map(np.concatenate, zip(*parts, strict=True)))


def find_other_names(tokens: TokenArrays, others: HashSet) -> tuple[np.ndarray, np.ndarray]:
    """Find the windows of several tokens that have the words of a name of something else.

    tokens (TokenArrays): The tokens.
    others (HashSet): The bags of words of these names.
    RETURNS (Tuple[Ints1d, Ints1d]): int64: the first token of each, and the token after each.
    """
    places = np.flatnonzero(tokens.are_words) if len(others) else np.zeros(0, "int64")
    is_break = (tokens.kinds == BREAK) | (tokens.kinds == PAUSE) | (tokens.kinds == BRACKET)
    words = _Words.at(tokens, places, is_break)
    parts = _written(words, np.arange(len(places)), others, MOST_WORDS, least=2)
    starts, ends, *_ = map(np.concatenate, zip(*parts, strict=True))
    return starts, ends


def _running_sums(column: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, column.dtype), column.cumsum(dtype=column.dtype)])


def _around_words(chosen: np.ndarray, number: int, *, before: int, after: int) -> np.ndarray:
    """List the words around some of a number of words, ascending."""
    near = np.unique(chosen[:, None] + np.arange(-before, after))
    return near[(near >= 0) & (near < number)]


def _written(
    words: _Words, first: np.ndarray, known: KnownNames | HashSet, longest: int, least: int = 1
) -> Iterator[Windows]:
    """Find the windows of each length that have the words of a name.

    words (_Words): The words.
    first (Ints1d): int64: the words to start at, ascending.
    known (Union[KnownNames, HashSet]): The names, or the hashes of their bags of words.
    longest (int): The number of words in the longest one.
    least (int): The minimum number of words.
    YIELDS (Windows): The windows.
    """
    sizes = words.sizes
    for length in range(least, _MAX_WORDS + 1):
        first = first[first + length <= words.lasts[first]]
        first = first[sizes[first + length] - sizes[first] <= longest]
        _, windows = words.named(first, first + length, known)
        yield windows
        if not len(first):
            return


def _without_additions(
    tokens: TokenArrays,
    places: np.ndarray,
    is_break: np.ndarray,
    replaced: Replacements,
    known: KnownNames,
) -> Iterator[Windows]:
    """Find the windows that are names without the adverbs between their words, "ears were mildly
    rotated", and without a short form in brackets: "von Hippel-Lindau (VHL) disease". Adverbs that
    no name has are never in their way.

    tokens (TokenArrays): The tokens.
    places (Ints1d): int64 (w,): the words, by token.
    is_break (np.ndarray): bool (t,): whether no window goes across a token.
    replaced (Replacements): Words of names that tokens stand for.
    known (KnownNames): The names.
    YIELDS (Windows): The windows, and some others.
    """
    is_bracket = tokens.kinds == BRACKET
    is_added = tokens.kinds[places] == ADVERB
    is_added |= is_bracket[places - 1] & is_bracket[tokens.ends[places]]
    if not is_added.any():
        return
    rest = places[~is_added]
    after = np.searchsorted(rest, places[is_added])
    plain = tokens._replace(kinds=np.where(is_bracket, FILLER, tokens.kinds))
    words = _Words.at(plain, rest, is_break)
    yield from _around(words, after, replaced, known)


def _around(
    words: _Words, chosen: np.ndarray, replaced: Replacements, known: KnownNames
) -> Iterator[Windows]:
    """Find the windows around some words, as they are or with words replaced.

    words (_Words): The words.
    chosen (Ints1d): int64: the numbers of some of them, ascending.
    replaced (Replacements): Words of names that tokens stand for.
    known (KnownNames): The names.
    YIELDS (Windows): The windows, and some others.
    """
    if not len(chosen):
        return
    number = len(words.places)
    first = _around_words(chosen, number, before=_MAX_WORDS - 1, after=1)
    yield from _written(words, first, known, known.longest, least=2)
    near = _around_words(chosen, number, before=_MAX_REPLACED, after=_MAX_REPLACED)
    replaced = replaced.where(np.isin(replaced.places, words.places[near]))
    yield from _replaced(words, replaced, known)


def _replaced(words: _Words, single: Replacements, known: KnownNames) -> Iterator[Windows]:
    """Find the windows that are names after one or two of their words are replaced.

    words (_Words): The words, among them all that are replaced.
    single (Replacements): Words of names that tokens stand for.
    known (KnownNames): The names.
    YIELDS (Windows): The windows.
    """
    single = single._replace(places=np.searchsorted(words.places, single.places))
    for distance in range(_MAX_PAIRED):
        changed = _pairs(single, distance) if distance else single
        longest = _MAX_PAIRED if distance else _MAX_REPLACED
        size, before = np.array(
            [(s, b) for s in range(distance + 1, longest + 1) for b in range(s - distance)]
        ).T
        places = changed.places
        which, number = np.nonzero(
            (changed.least <= size[:, None])
            & (places - words.firsts[places] >= before[:, None])
            & (words.lasts[places] - places >= (size - before)[:, None])
        )
        start = places[number] - before[which]
        end = start + size[which]
        matching, windows = words.named(start, end, known, changed.changes[number])
        yield windows._replace(certainty=changed.certainty[number[matching]])


def _pairs(single: Replacements, distance: int) -> Replacements:
    """Combine each replacement with each replacement of the word at a given distance after it.

    RETURNS (Replacements): The pairs, at the position of the first word.
    """
    first, last = (
        np.searchsorted(single.places, single.places + distance, side=side)
        for side in ("left", "right")
    )
    one, other = list_ranges(first, last)
    certainty = single.certainty[one] * single.certainty[other]
    least = np.where(np.maximum(single.certainty[one], single.certainty[other]) < DERIVED, 3, 2)
    pairs = Replacements(
        single.places[one],
        single.changes[one] + single.changes[other],
        certainty,
        np.maximum(least, np.maximum(single.least[one], single.least[other])),
    )
    return pairs.where(certainty >= _LEAST_OF_TWO)


def _replacements(tokens: TokenArrays, known: KnownNames, min_certainty: float) -> Replacements:
    """List the words of names that tokens stand for, and those that the ontology uses in their
    place.

    tokens (TokenArrays): The tokens.
    known (KnownNames): The names.
    min_certainty (float): Leave out those with a lower certainty in the ontology.
    RETURNS (Replacements): The replacements, by token.
    """
    # Short ones have none.
    places = np.flatnonzero((tokens.sizes == 1) & (tokens.letters > _SHORT))
    owners, changes, certainty, company = known.substitutions(tokens.hashes[places], min_certainty)
    places = places[owners]
    substituted = Replacements(places, changes, certainty, np.full(len(places), 2))
    substituted = substituted.where(_have_company(tokens, places, company))
    of_two = _of_two(tokens, known, min_certainty)
    return Replacements.joined([tokens.readings, substituted, *of_two])


def _of_two(tokens: TokenArrays, known: KnownNames, min_certainty: float) -> list[Replacements]:
    """List the words that the ontology uses in place of two words side by side: "mandible" for
    "lower jaw".

    tokens (TokenArrays): The tokens.
    known (KnownNames): The names.
    min_certainty (float): Leave out those with a lower certainty in the ontology.
    RETURNS (List[Replacements]): The replacements, by the first of both tokens, and those that
        leave the second one as it is.
    """
    places = np.flatnonzero((tokens.kinds == WORD) & (tokens.sizes == 1))
    first, second = places[:-1], places[1:]
    gaps = second - tokens.ends[first]
    are_beside = (gaps == 0) | ((gaps == 1) & (tokens.kinds[second - 1] == FILLER))
    first, second = first[are_beside], second[are_beside]
    both = tokens.hashes[first] + tokens.hashes[second]
    owners, changes, certainty, company = known.substitutions(both, min_certainty)
    whole = Replacements(first[owners], changes, certainty, np.full(len(owners), 2))
    # A word that no name has would end the window.
    rest = whole._replace(places=second[owners], changes=np.zeros_like(changes))
    kept = _have_company(tokens, whole.places, company)
    return [whole.where(kept), rest.where(kept)]


def _have_company(tokens: TokenArrays, places: np.ndarray, company: np.ndarray) -> np.ndarray:
    """Check which tokens have a word near them, in the same document.

    tokens (TokenArrays): All tokens.
    places (Ints1d): int64 (r,): the positions of some.
    company (np.ndarray): uint64 (r,): the hash of the word for each; 0 if it needs none.
    RETURNS (np.ndarray): bool (r,).
    """
    kept = company == 0
    needing = np.flatnonzero(~kept)
    own, wanted = places[needing, None], company[needing, None]
    near = np.clip(own + np.arange(-_COMPANY, _COMPANY + 1), 0, len(tokens.hashes) - 1)
    documents = np.cumsum(tokens.kinds == BREAK)
    are_company = (tokens.hashes[near] == wanted) & (documents[near] == documents[own])
    kept[needing] = are_company.any(axis=1)
    return kept


def _runs(
    tokens: TokenArrays, places: np.ndarray, *, is_break: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the runs of words without a break.

    RETURNS (Tuple[Ints1d, Ints1d]): int64 (w,): the first word of the run of each word, and the
        word after the run.
    """
    breaks = np.cumsum(is_break)[places]
    counted = _running_sums((tokens.kinds != VERB).astype("int64"))
    gaps = counted[places[1:]] - counted[tokens.ends[places[:-1]]]
    is_new = (breaks[1:] != breaks[:-1]) | (gaps > _MAX_FILLERS)
    bounds = np.concatenate([[0], np.flatnonzero(is_new) + 1, [len(places)]])
    sizes = np.diff(bounds)
    return np.repeat(bounds[:-1], sizes), np.repeat(bounds[1:], sizes)
