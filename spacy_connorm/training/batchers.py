"""Batchers: which texts of the pool are compared with each other.

The ones here compare texts by their concepts; `candidate_batcher` draws lists to rank. The rows of
a batch are distinct, and each shares a concept with another. All batches of an epoch are about
equally full, and all epochs have the same number of batches. Draws depend only on the seed and the
epoch's number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import refuse, require_positive
from .batches import BatchRows
from .occurrences import Occurrences
from .pool import SynonymPool, sorted_unique

# Rows of the pool, int64 (n,), to their vectors by the current encoder, float32 (n, width).
Vectors = Callable[[np.ndarray], np.ndarray]


class Batcher(Protocol):
    """Draws batches for the trainer; registered in the group `spacy_batchers`."""

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors
    ) -> Sequence[BatchRows]:
        """Draw the batches of an epoch.

        pool (SynonymPool): What to draw from.
        seed (int): Of the training, from 0.
        epoch (int): Its number, from 0; another epoch draws other batches, but as many.
        vectors (Callable): Encodes rows of the pool with the current encoder.
        RETURNS (Sequence[BatchRows]): Of each batch: int64, rows of the pool, ascending; or ranked
            lists of them. Empty if no concept has two texts.
        """


@dataclass(frozen=True)
class PairBatcher:
    """`spacy-connorm.PairBatcher.v1`: every text is an anchor and comes with one random positive
    (Xu and Bethard 2021, section 4.2). A text that D repeats, or that has several concepts, is an
    anchor each time. Pairs are never split.

    size (int): At most how many texts a batch has; slightly fewer, as pairs share texts.
    RAISES (ConnormError): CN006 for less than 4 texts.
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
    groups. So a text is encoded once per epoch (or as often as D repeats it): half the work of
    pairs. A group of one text gets a random other text of the concept.

    size (int): At most how many texts a batch has; at least three groups.
    per_concept (int): Texts in a group.
    RAISES (ConnormError): CN006 for an invalid setting.
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
    """`spacy-connorm.SynonymPairBatcher.v1`: SapBERT's list of pairs (Liu et al. 2021, section
    3.1): all pairs of texts of a concept, or `max_pairs` random ones if there are more. The paper
    draws once, for its one epoch; here every epoch draws anew. A text that D repeats makes its
    pairs each time, within that limit.

    size (int): At most how many texts a batch has, two per pair; fewer, as pairs share texts.
    max_pairs (int): At most how many pairs a concept has.
    RAISES (ConnormError): CN006 for an invalid setting.
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
        # The pairs of all concepts are numbered: an occurrence is paired with all that follow its
        # text in the concept, one occurrence after the other.
        ends = np.cumsum(found.end - found.text_end)
        pairs = self._choose(ends[sorted_unique(found.end) - 1], rng)
        first = np.searchsorted(ends, pairs, side="right")
        second = found.end[first] - (ends[first] - pairs)
        return _pack_pairs(found, first, second, self.size, rng)

    def _choose(self, ends: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The numbers of this epoch's pairs, from where each concept's numbers end."""
        counts = np.diff(ends, prepend=0)
        few = counts <= self.max_pairs
        kept = counts[few]
        offsets = np.repeat(ends[few] - np.cumsum(kept), kept)
        drawn = (ends - counts)[~few] + _draw_subsets(counts[~few], self.max_pairs, rng)
        return np.concatenate([offsets + np.arange(kept.sum()), drawn.ravel()])


class Groups(NamedTuple):
    """Groups of texts of one concept, which stay together in a batch.

    rows (Ints1d): int64 (n,), rows of the pool.
    group (Ints1d): int64 (n,), the group of each row.
    widths (Ints1d): int64 (groups,), the size of each group.
    concept (Ints1d): int64 (groups,), a number that groups of one concept share.
    """

    rows: np.ndarray
    group: np.ndarray
    widths: np.ndarray
    concept: np.ndarray


def check_groups(size: int, per_concept: int) -> None:
    """Check that every epoch can be cut into the same number of batches.

    size (int): Texts of a batch.
    per_concept (int): Texts of a group.
    RAISES (ConnormError): CN006 if not.
    """
    if per_concept < 2:
        refuse("per_concept", per_concept, "at least 2, a text and its positive")
    _check_size(size, 3 * per_concept)


def draw_groups(found: Occurrences, per_concept: int, rng: np.random.Generator) -> Groups:
    """Cut the texts of each concept, in random order, into groups. A group of one text gets a
    random other text of the concept.

    found (Occurrences): What to draw from.
    per_concept (int): Texts in a group; the last group of a concept may have fewer.
    rng (Generator): The source of randomness.
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
    order (Ints1d): int64 (groups,): the order in which they are packed.
    size (int): At most how many texts a batch has.
    RETURNS (List[Ints1d]): The distinct rows of each batch.
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
    """Distinct numbers below each count, int64 (size, counts), by Robert Floyd's algorithm: all
    subsets are equally likely."""
    drawn = np.empty((size, len(counts)), dtype="int64")
    for turn in range(size):
        last = counts - size + turn
        number = rng.integers(last + 1)
        taken = (drawn[:turn] == number).any(axis=0)
        drawn[turn] = np.where(taken, last, number)
    return drawn


def _shuffled(found: Occurrences, rng: np.random.Generator) -> np.ndarray:
    """Occurrences in random order within their concept. Repetitions of a text are spread, so that
    they meet other texts in their groups."""
    repetition = np.arange(len(found)) - found.text_start
    turn = (repetition + rng.random(len(found))) / (found.text_end - found.text_start)
    # Starts of concepts are at least 2 apart, so a turn rounded up to 1 stays in its concept.
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
    """The batch of each item, and the number of batches: the fewest, about equally full, that hold
    items of these widths in any order."""
    total = int(widths.sum())
    # A batch takes the items that begin in its share, so the last may exceed it.
    share = size - int(widths.max()) + 1
    count = 1 if total <= size else -(-total // share)
    return (np.cumsum(widths) - widths) * count // total, count


def _split(rows: np.ndarray, batch: np.ndarray, count: int) -> list[np.ndarray]:
    """The distinct rows of each batch."""
    width = int(rows.max()) + 1
    keys = sorted_unique(batch * width + rows)
    borders = np.searchsorted(keys, width * np.arange(1, count))
    return np.split(keys % width, borders)
