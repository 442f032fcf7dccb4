"""Batchers: which texts of the pool are compared with each other.

Those here compare them by their concepts; `candidate_batcher` draws lists to be ranked instead.
Every batch holds distinct rows, and each of them has a row of a common concept in it. A batcher
fills every batch about equally, so there is no short last one, and gives the same number of batches
in every epoch. What an epoch draws is a matter of the seed and its number alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import refuse, require_positive
from .batches import BatchRows
from .occurrences import Occurrences
from .pool import SynonymPool, distinct

# Rows of the pool, int64 (n,), to the vectors that the encoder gives them now, float32 (n, width).
Vectors = Callable[[np.ndarray], np.ndarray]


class Batcher(Protocol):
    """What the trainer asks for batches; registered in the group `spacy_batchers`."""

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors
    ) -> Sequence[BatchRows]:
        """Draw the batches of an epoch.

        pool (SynonymPool): What to draw from.
        seed (int): Of the training, 0 or more.
        epoch (int): Its number, 0 or more; another epoch draws other batches, but as many.
        vectors (Callable): Encodes rows of the pool with the encoder as it is.
        RETURNS (Sequence[BatchRows]): Of each batch: int64, rows into `pool.texts`, ascending; or
            ranked lists of them. Empty if no concept has two texts.
        """


@dataclass(frozen=True)
class PairBatcher:
    """`spacy-connorm.PairBatcher.v1`: every text is an anchor and comes with one random positive
    (Xu and Bethard 2021, section 4.2). A text that D repeats, or that has several concepts, is an
    anchor each time. Pairs are never split.

    size (int): At most so many texts in a batch; as its pairs share some, it holds a little fewer.
    """

    size: int = 1500

    def __post_init__(self) -> None:
        _check_size(self.size, 4)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors | None = None
    ) -> list[np.ndarray]:
        """RETURNS (List[Ints1d]): As `Batcher.batches`."""
        rng = np.random.default_rng((seed, epoch))
        found = Occurrences.of(pool)
        anchors = np.arange(len(found))
        return _pack_pairs(found, anchors, found.draw_others(anchors, rng), self.size, rng)


@dataclass(frozen=True)
class GroupBatcher:
    """`spacy-connorm.GroupBatcher.v1`: the texts of each concept, in random order, are cut into
    groups, so that a text is encoded once an epoch (or as often as D repeats it), which is half the
    work of pairs. Where a text is left alone, a random other one of its concept is drawn again.

    size (int): At most so many texts in a batch, and at least three groups.
    per_concept (int): Texts in a group.
    """

    size: int = 1500
    per_concept: int = 4

    def __post_init__(self) -> None:
        check_groups(self.size, self.per_concept)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors | None = None
    ) -> list[np.ndarray]:
        """RETURNS (List[Ints1d]): As `Batcher.batches`."""
        rng = np.random.default_rng((seed, epoch))
        groups = draw_groups(Occurrences.of(pool), self.per_concept, rng)
        return pack_groups(groups, rng.permutation(len(groups.widths)), self.size)


@dataclass(frozen=True)
class SynonymPairBatcher:
    """`spacy-connorm.SynonymPairBatcher.v1`: the pair list (Liu et al. 2021, section 3.1): all
    pairs of texts of a concept or, where there are more than `max_pairs`, so many of them, drawn at
    random and without repetition. The paper draws once, for its one epoch; here every epoch draws
    anew. A text that D repeats makes its pairs each time, within that limit.

    size (int): At most so many texts in a batch, two a pair; as its pairs share some, it holds
        fewer.
    max_pairs (int): Pairs of one concept.
    """

    size: int = 512
    max_pairs: int = 50

    def __post_init__(self) -> None:
        _check_size(self.size, 4)
        require_positive("max_pairs", self.max_pairs)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors | None = None
    ) -> list[np.ndarray]:
        """RETURNS (List[Ints1d]): As `Batcher.batches`."""
        rng = np.random.default_rng((seed, epoch))
        found = Occurrences.of(pool)
        # The pairs of all concepts are numbered: those of an occurrence with each that follows its
        # text in the concept, one occurrence after the other.
        ends = np.cumsum(found.end - found.text_end)
        pairs = self._choose(ends[distinct(found.end) - 1], rng)
        first = np.searchsorted(ends, pairs, side="right")
        second = found.end[first] - (ends[first] - pairs)
        return _pack_pairs(found, first, second, self.size, rng)

    def _choose(self, ends: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The numbers of the pairs of this epoch, given where those of each concept end."""
        counts = np.diff(ends, prepend=0)
        few = counts <= self.max_pairs
        kept = counts[few]
        offsets = np.repeat(ends[few] - np.cumsum(kept), kept)
        drawn = (ends - counts)[~few] + _draw_subsets(counts[~few], self.max_pairs, rng)
        return np.concatenate([offsets + np.arange(kept.sum()), drawn.ravel()])


class Groups(NamedTuple):
    """Texts of one concept that go into one batch together.

    rows (Ints1d): int64 (n,), rows of the pool.
    group (Ints1d): int64 (n,), the group of each.
    widths (Ints1d): int64 (groups,), their sizes.
    concept (Ints1d): int64 (groups,), a number that groups of one concept share.
    """

    rows: np.ndarray
    group: np.ndarray
    widths: np.ndarray
    concept: np.ndarray


def check_groups(size: int, per_concept: int) -> None:
    """Refuse settings with which an epoch could not always be cut into as many batches.

    size (int): Of a batch.
    per_concept (int): Of a group.
    RAISES (ConnormError): CN006.
    """
    if per_concept < 2:
        refuse("per_concept", per_concept, "at least 2, a text and its positive")
    _check_size(size, 3 * per_concept)


def draw_groups(found: Occurrences, per_concept: int, rng: np.random.Generator) -> Groups:
    """Cut the texts of each concept, in random order, into groups. Where a text is left alone, a
    random other one of its concept is drawn again.

    found (Occurrences): What there is to draw.
    per_concept (int): Texts in a group, but for the last of a concept.
    rng (Generator): Draws.
    RETURNS (Groups): Concept by concept.
    """
    if not len(found):
        return Groups(*(np.zeros(0, dtype="int64") for _ in Groups._fields))
    places = _shuffled(found, rng)
    number = (np.arange(len(found)) - found.start) // per_concept
    starts = np.flatnonzero(np.diff(found.start + number, prepend=-1))
    sizes = np.diff(starts, append=len(found))
    rows = found.row[places]
    alone = np.minimum.reduceat(rows, starts) == np.maximum.reduceat(rows, starts)
    others = found.draw_others(places[starts[alone]], rng)
    group = np.arange(len(starts))
    return Groups(
        np.concatenate([rows, found.row[others]]),
        np.concatenate([np.repeat(group, sizes), group[alone]]),
        np.maximum(sizes, 2),
        found.start[starts],
    )


def pack_groups(groups: Groups, order: np.ndarray, size: int) -> list[np.ndarray]:
    """Fill batches with groups.

    groups (Groups): The groups.
    order (Ints1d): int64 (groups,): a permutation of them.
    size (int): At most so many texts in a batch.
    RETURNS (List[Ints1d]): Of each batch the distinct rows.
    """
    if not len(order):
        return []
    batch = np.empty(len(order), dtype="int64")
    batch[order], count = _fill(groups.widths[order], size)
    return _split(groups.rows, batch[groups.group], count)


def _check_size(size: int, least: int) -> None:
    if size < least:
        refuse("size", size, f"at least {least} texts")


def _draw_subsets(counts: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """For each count, different numbers under it: int64 (size, counts). Robert Floyd's algorithm:
    of all subsets each is as likely."""
    drawn = np.empty((size, len(counts)), dtype="int64")
    for turn in range(size):
        last = counts - size + turn
        number = rng.integers(last + 1)
        taken = (drawn[:turn] == number).any(axis=0)
        drawn[turn] = np.where(taken, last, number)
    return drawn


def _shuffled(found: Occurrences, rng: np.random.Generator) -> np.ndarray:
    """Occurrences in random order within their concept, the repetitions of a text spread over it,
    so that they meet others in their groups."""
    repetition = np.arange(len(found)) - found.text_start
    turn = (repetition + rng.random(len(found))) / (found.text_end - found.text_start)
    # Concepts are two apart or more, so that a turn rounded up to 1 stays in its own.
    return np.argsort(found.start + turn)


def _pack_pairs(
    found: Occurrences,
    first: np.ndarray,
    second: np.ndarray,
    size: int,
    rng: np.random.Generator,
) -> list[np.ndarray]:
    if not len(first):
        return []
    batch, count = _fill(np.ones(len(first), dtype="int64"), size // 2)
    batch = rng.permutation(batch)
    rows = np.concatenate([found.row[first], found.row[second]])
    return _split(rows, np.concatenate([batch, batch]), count)


def _fill(widths: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Cut a sequence of things of these widths into the fewest batches that surely hold them and
    are about equally full. Their number is the same whatever the order of the widths."""
    total = int(widths.sum())
    # A batch takes what begins in its share of the whole, so it can exceed that by one thing.
    share = size - int(widths.max()) + 1
    count = 1 if total <= size else -(-total // share)
    return (np.cumsum(widths) - widths) * count // total, count


def _split(rows: np.ndarray, batch: np.ndarray, count: int) -> list[np.ndarray]:
    """The distinct rows of each batch."""
    width = int(rows.max()) + 1
    keys = distinct(batch * width + rows)
    borders = np.searchsorted(keys, width * np.arange(1, count))
    return np.split(keys % width, borders)
