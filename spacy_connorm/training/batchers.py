"""Batchers select the texts in the pool that are compared with each other.

The batchers here compare texts by their concepts; `neighbour_batcher` also has near concepts meet,
`candidate_batcher` draws lists to rank and `grounding_batcher` triplets. The rows of a batch are
distinct, and each shares a concept with another. All batches of an epoch are about equally full,
and all epochs have the same number of batches. Draws depend only on the seed and the number of the
epoch; in `NeighbourBatcher`, also on the encoder.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import require_range
from .batches import Batch, Memberships
from .pool import SynonymPool, sorted_unique

# The number of scores in memory at once, if all texts are compared.
COMPARED_AT_ONCE = 2**24


class Ranking(NamedTuple):
    """How the encoder and the objective in training currently compare texts.

    vectors (Callable): From rows of the pool, int64 (n,), to their raw vectors, float32 (n, width).
    normalized (bool): Whether vectors are compared at unit length.
    lexical_weight (float): The weight of the n-grams' cosine.
    """

    vectors: Callable[[np.ndarray], np.ndarray]
    normalized: bool = True
    lexical_weight: float = 0.0


class Batcher(ABC):
    """Draws batches for the trainer; registered in the group `spacy_batchers`.

    relations (Type): The kind of relations in its batches, one of `batches.RelationKind`; the
        objective must read the same kind.
    each_once (bool): Whether an epoch draws each text once, however often D repeats it.
    """

    relations: ClassVar[Any] = Memberships
    each_once: ClassVar[bool] = False

    @abstractmethod
    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, ranking: Ranking
    ) -> Sequence[Batch]:
        """Draw the batches of an epoch.

        pool (SynonymPool): The pool to draw from.
        seed (int): The seed of the training, from 0.
        epoch (int): The number of the epoch, from 0. Each epoch draws different batches, but the
            same number.
        ranking (Ranking): Compares texts with the current encoder.
        RETURNS (Sequence[Batch]): The batches; none if no concept has two texts.
        """


@dataclass(frozen=True)
class PairBatcher(Batcher):
    """`spacy-connorm.PairBatcher.v1`: each text is an anchor with one random positive (Xu and
    Bethard 2021, section 4.2). A text that D repeats, or that has several concepts, is an anchor
    each time. Pairs are never split.

    size (int): The maximum number of texts in a batch; there are slightly fewer, since pairs share
        texts.
    RAISES (ConnormError): CN006 for fewer than 4 texts.
    """

    size: int = 1500

    def __post_init__(self) -> None:
        require_range(least=4, size=self.size)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, ranking: Ranking | None = None
    ) -> list[Batch]:
        """Draw the batches of an epoch; see `Batcher.batches`.

        RETURNS (List[Batch]): The batches.
        """
        rng = np.random.default_rng((seed, epoch))
        occurrences = Occurrences.of(pool)
        anchors = occurrences.row
        others = occurrences.draw_others(np.arange(len(anchors)), rng)
        return _pack_pairs(pool, anchors, anchors[others], self.size, rng)


@dataclass(frozen=True)
class GroupBatcher(Batcher):
    """`spacy-connorm.GroupBatcher.v1`: the texts of each concept, in random order, are split into
    groups. So a text is encoded once per epoch (or as often as D repeats it), which is half the
    work of pairs. A group of one text gets another random text of the concept.

    size (int): The maximum number of texts in a batch; at least three groups.
    per_concept (int): Texts in a group.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 1500
    per_concept: int = 4

    def __post_init__(self) -> None:
        # Every epoch must have the same number of batches.
        require_range(least=2, per_concept=self.per_concept)
        require_range(least=3 * self.per_concept, size=self.size)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, ranking: Ranking | None = None
    ) -> list[Batch]:
        """Draw the batches of an epoch; see `Batcher.batches`.

        RETURNS (List[Batch]): The batches.
        """
        rng = np.random.default_rng((seed, epoch))
        occurrences = Occurrences.of(pool)
        if not len(occurrences.row):
            return []
        groups = _draw_groups(occurrences, self.per_concept, rng)
        order = self._order(occurrences, groups, ranking, rng)
        batch = np.empty(len(order), dtype="int64")
        batch[order], count = _fill(groups.widths[order], self.size)
        return _split(pool, groups.rows, batch[groups.group], count)

    def _order(
        self, occurrences: "Occurrences", groups: "Groups", ranking: Any, rng: np.random.Generator
    ) -> np.ndarray:
        """Choose the order in which groups fill batches.

        RETURNS (Ints1d): int64 (groups,).
        """
        return rng.permutation(len(groups.widths))


@dataclass(frozen=True)
class SynonymPairBatcher(Batcher):
    """`spacy-connorm.SynonymPairBatcher.v1`: SapBERT's list of pairs (Liu et al. 2021, section
    3.1): all pairs of texts of a concept, or `max_pairs` random ones if there are more. The paper
    draws once, for its single epoch; here, every epoch draws anew. A text that D repeats forms its
    pairs each time, within that limit.

    size (int): The maximum number of texts in a batch, two per pair; there are fewer, since pairs
        share texts.
    max_pairs (int): The maximum number of pairs of a concept.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 512
    max_pairs: int = 50

    def __post_init__(self) -> None:
        require_range(least=4, size=self.size)
        require_range(least=1, max_pairs=self.max_pairs)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, ranking: Ranking | None = None
    ) -> list[Batch]:
        """Draw the batches of an epoch; see `Batcher.batches`.

        RETURNS (List[Batch]): The batches.
        """
        rng = np.random.default_rng((seed, epoch))
        occurrences = Occurrences.of(pool)
        # The pairs of all concepts are numbered: an occurrence is paired with all that follow its
        # text in the concept, one occurrence after the other.
        ends = np.cumsum(occurrences.end - occurrences.text_end)
        pairs = self._choose(ends[sorted_unique(occurrences.end) - 1], rng)
        first = np.searchsorted(ends, pairs, side="right")
        second = occurrences.end[first] - (ends[first] - pairs)
        return _pack_pairs(pool, occurrences.row[first], occurrences.row[second], self.size, rng)

    def _choose(self, ends: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Choose the numbers of this epoch's pairs, given where the numbers of each concept end."""
        counts = np.diff(ends, prepend=0)
        few = counts <= self.max_pairs
        numbered = counts[few]
        offsets = np.repeat(ends[few] - np.cumsum(numbered), numbered)
        drawn = (ends - counts)[~few] + _draw_subsets(counts[~few], self.max_pairs, rng)
        return np.concatenate([offsets + np.arange(numbered.sum()), drawn.ravel()])


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


def _draw_groups(occurrences: "Occurrences", per_concept: int, rng: np.random.Generator) -> Groups:
    """Split the texts of each concept, in random order, into groups. A group of one text gets
    another random text of the concept.
    """
    places = _shuffled(occurrences, rng)
    number = (np.arange(len(occurrences.row)) - occurrences.start) // per_concept
    starts = np.flatnonzero(np.diff(occurrences.start + number, prepend=-1))
    sizes = np.diff(starts, append=len(occurrences.row))
    rows = occurrences.row[places]
    alone = np.minimum.reduceat(rows, starts) == np.maximum.reduceat(rows, starts)
    others = occurrences.draw_others(places[starts[alone]], rng)
    group = np.arange(len(starts))
    return Groups(
        np.concatenate([rows, occurrences.row[others]]),
        np.concatenate([np.repeat(group, sizes), group[alone]]),
        np.maximum(sizes, 2),
        occurrences.start[starts],
    )


def _draw_subsets(counts: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw distinct numbers below each count, int64 (size, counts), by Robert Floyd's algorithm:
    all subsets are equally likely.
    """
    drawn = np.empty((size, len(counts)), dtype="int64")
    for turn in range(size):
        last = counts - size + turn
        number = rng.integers(last + 1)
        taken = (drawn[:turn] == number).any(axis=0)
        drawn[turn] = np.where(taken, last, number)
    return drawn


def _shuffled(occurrences: "Occurrences", rng: np.random.Generator) -> np.ndarray:
    """Put occurrences in random order within their concept. Repetitions of a text are spread, so
    that they share groups with different texts.
    """
    repetition = np.arange(len(occurrences.row)) - occurrences.text_start
    repetitions = occurrences.text_end - occurrences.text_start
    turn = (repetition + rng.random(len(occurrences.row))) / repetitions
    # Starts of concepts are at least 2 apart, so a turn rounded up to 1 stays in its concept.
    return np.argsort(occurrences.start + turn)


def _pack_pairs(
    pool: SynonymPool, first: np.ndarray, second: np.ndarray, size: int, rng: np.random.Generator
) -> list[Batch]:
    if not len(first):
        return []
    batch, count = _fill(np.ones(len(first), dtype="int64"), size // 2)
    batch = rng.permutation(batch)
    rows, batch = np.concatenate([first, second]), np.concatenate([batch, batch])
    return _split(pool, rows, batch, count)


def _fill(widths: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Assign items of these widths to the fewest batches that hold them in any order, about equally
    full. Returns the batch of each item, and the number of batches.
    """
    total = int(widths.sum())
    # A batch takes the items that begin in its share, so the last item may exceed it.
    share = size - int(widths.max()) + 1
    count = 1 if total <= size else -(-total // share)
    return (np.cumsum(widths) - widths) * count // total, count


def _split(pool: SynonymPool, rows: np.ndarray, batch: np.ndarray, count: int) -> list[Batch]:
    """Create batches of distinct rows, given the batch of each row."""
    width = int(rows.max()) + 1
    keys = sorted_unique(batch * width + rows)
    borders = np.searchsorted(keys, width * np.arange(1, count))
    return [
        Batch(chosen, Memberships.of([pool.concepts[row] for row in chosen.tolist()]))
        for chosen in np.split(keys % width, borders)
    ]


class Occurrences(NamedTuple):
    """The members of all concepts with at least two texts, one concept after the other. A text
    that is drawn three times per epoch occurs three times in a row. int64 (n,) each.

    row (Ints1d): The text, a row of the pool.
    start (Ints1d): Where its concept begins.
    end (Ints1d): Where its concept ends.
    text_start (Ints1d): Where the occurrences of the text in the concept begin.
    text_end (Ints1d): Where they end.
    """

    row: np.ndarray
    start: np.ndarray
    end: np.ndarray
    text_start: np.ndarray
    text_end: np.ndarray

    @classmethod
    def of(cls, pool: SynonymPool) -> "Occurrences":
        """List the occurrences in a pool; none if no concept has two texts.

        RETURNS (Occurrences): The occurrences.
        """
        sizes = np.asarray([len(rows) for rows in pool.members], dtype="int64")
        concept = np.repeat(np.arange(len(sizes)), sizes)
        row = np.concatenate([np.empty(0, "int64"), *pool.members])
        width = len(pool.texts)
        keys = np.sort(concept * width + row)
        start, end = _runs(keys // max(width, 1))
        text_start, text_end = _runs(keys)
        chosen = (text_end - text_start) < (end - start)
        # Only whole concepts are dropped, so the others move up by the number dropped before them.
        moved = np.cumsum(~chosen)[chosen]
        places = (ends[chosen] - moved for ends in (start, end, text_start, text_end))
        return cls(keys[chosen] % max(width, 1), *places)

    def draw_others(self, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw another text of the same concept for each occurrence, uniformly over occurrences.

        places (Ints1d): int64 (m,), positions of occurrences.
        rng (Generator): The source of randomness.
        RETURNS (Ints1d): int64 (m,), positions of the drawn occurrences.
        """
        text_start, text_end = self.text_start[places], self.text_end[places]
        start = self.start[places]
        drawn = start + rng.integers(self.end[places] - start - (text_end - text_start))
        return np.where(drawn < text_start, drawn, drawn + text_end - text_start)


def _runs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find where the run of equal values around each value begins and ends."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    sizes = np.diff(starts, append=len(values))
    return np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)


def locate_rows(*parts: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Collect the rows of a batch, and find their positions in it.

    *parts (np.ndarray): int64, rows of the pool, in any shape; the same row may be in several.
    RETURNS (Tuple[Ints1d, List[np.ndarray]]): int64, the distinct rows, ascending, and for each
        part the positions of its rows among these, in its shape.
    """
    rows = sorted_unique(np.concatenate([part.ravel() for part in parts]))
    return rows, [np.searchsorted(rows, part) for part in parts]


def top_columns(scores: np.ndarray, count: int) -> np.ndarray:
    """Find the highest scores of each row.

    scores (Floats2d): (n, m).
    count (int): The number of scores per row, at most m.
    RETURNS (Ints2d): int64 (n, count): their columns, highest score first.
    """
    if not count:
        return np.empty((len(scores), 0), dtype="int64")
    top = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
    return np.take_along_axis(top, order, axis=1)
