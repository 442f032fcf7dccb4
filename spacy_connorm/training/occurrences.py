"""The texts that an epoch can draw, concept by concept, as flat arrays."""

from dataclasses import dataclass, fields

import numpy as np

from .pool import SynonymPool


@dataclass(frozen=True, slots=True)
class Occurrences:
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

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def of(cls, pool: SynonymPool) -> "Occurrences":
        """List the occurrences of a pool.

        pool (SynonymPool): The pool.
        RETURNS (Occurrences): Empty if no concept has two texts.
        """
        sizes = np.asarray([len(rows) for rows in pool.members], dtype="int64")
        concept = np.repeat(np.arange(len(sizes)), sizes)
        row = np.concatenate([np.empty(0, "int64"), *pool.members])
        width = len(pool.texts)
        keys = np.sort(concept * width + row)
        start, end = _runs(keys // max(width, 1))
        text_start, text_end = _runs(keys)
        found = cls(keys % max(width, 1), start, end, text_start, text_end)
        return found._only((text_end - text_start) < (end - start))

    def _only(self, chosen: np.ndarray) -> "Occurrences":
        # Whole concepts are dropped, so the rest moves up by what was dropped before it.
        moved = np.cumsum(~chosen)[chosen]
        row = self.row[chosen]
        places = (getattr(self, field.name)[chosen] - moved for field in fields(self)[1:])
        return Occurrences(row, *places)

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
    """Where the run of equal values around each value begins and ends."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    sizes = np.diff(starts, append=len(values))
    return np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)
