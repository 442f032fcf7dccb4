"""How much of a table of terms is mapped."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..documents.sssom import STATUSES, TermMapping


@dataclass(frozen=True, slots=True)
class MappingSummary:
    """Counts of terms by the result of the mapping.

    measure (str): What the thresholds compare: "probability" or "cosine".
    rows (Dict[str, int]): Terms by status: "accepted", "review", "unmatched".
    counts (Dict[str, int]): The sums of their counts.
    decided (int): Terms decided by a person.
    gone (int): Rows that are not counted: a person has decided them, and their terms are no longer
        in the table.
    """

    measure: str
    rows: dict[str, int]
    counts: dict[str, int]
    decided: int
    gone: int = 0

    def share(self, status: str) -> tuple[float, float]:
        """Compute how many terms have a status.

        RETURNS (Tuple[float, float]): The share of terms, and of their counts, 0 to 1.
        """
        rows, counts = sum(self.rows.values()), sum(self.counts.values())
        return self.rows[status] / (rows or 1), self.counts[status] / (counts or 1)


def summarize_mappings(mappings: Iterable[TermMapping], *, measure: str = "") -> MappingSummary:
    """Count the rows of a mapping.

    RETURNS (MappingSummary): The rows by status, and how often their terms occur.
    """
    rows, counts, decided = Counter[str](), Counter[str](), 0
    for mapping in mappings:
        rows[mapping.status] += 1
        counts[mapping.status] += mapping.count
        decided += mapping.is_decided
    return MappingSummary(
        measure,
        rows={status: rows[status] for status in STATUSES},
        counts={status: counts[status] for status in STATUSES},
        decided=decided,
    )
