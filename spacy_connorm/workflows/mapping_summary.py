"""How much of a table of terms is mapped."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..documents.sssom import STATUSES, TermMapping


@dataclass(frozen=True, slots=True)
class MappingSummary:
    """What became of terms.

    measure (str): What the thresholds compare: "probability" or "cosine".
    rows (Dict[str, int]): Terms by status: "accepted", "review", "unmatched".
    counts (Dict[str, int]): The sums of their counts.
    decided (int): Terms that a person has decided.
    gone (int): Rows that are not counted: a person has decided them, and the table no longer has
        their terms.
    """

    measure: str
    rows: dict[str, int]
    counts: dict[str, int]
    decided: int
    gone: int = 0

    def share(self, status: str) -> tuple[float, float]:
        """RETURNS (Tuple[float, float]): The share of terms with a status, and that of their
        counts, 0 to 1.
        """
        shares = [each[status] / (sum(each.values()) or 1) for each in (self.rows, self.counts)]
        return shares[0], shares[1]


def summarize_mappings(mappings: Iterable[TermMapping], *, measure: str = "") -> MappingSummary:
    """RETURNS (MappingSummary): The rows, and how often their terms occur, by status."""
    rows, counts, decided = Counter[str](), Counter[str](), 0
    for each in mappings:
        rows[each.status] += 1
        counts[each.status] += each.count
        decided += each.is_decided
    return MappingSummary(
        measure,
        rows={status: rows[status] for status in STATUSES},
        counts={status: counts[status] for status in STATUSES},
        decided=decided,
    )
