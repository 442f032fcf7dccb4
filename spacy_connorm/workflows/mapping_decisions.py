"""What people decide of mappings, and how much of a table is mapped."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from ..documents.sssom import ACCEPTED, MANUAL, NO_TERM, STATUSES, UNMATCHED, TermMapping
from ..errors import refuse_text
from .mapping_rows import BROAD, CLOSE, EXACT, NARROW

RELATED = "skos:relatedMatch"
PREDICATES = (EXACT, CLOSE, BROAD, NARROW, RELATED)
ORCID = "orcid"
_ORCID = re.compile(r"(?:https?://orcid\.org/|orcid:)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
# What a decision replaces, and taking it back restores.
_REPLACED = (
    *("predicate_id", "object_id", "mapping_justification", "object_label", "author_id"),
    *("author_label", "mapping_date", "confidence", "similarity_score", "match_string", "status"),
    "correction",
)


def decide_mapping(
    mapping: TermMapping,
    *,
    object_id: str,
    object_label: str,
    predicate_id: str = EXACT,
    author: str = "",
    correction: str = "",
) -> TermMapping:
    """Write what a person has decided. What the row said before any person decided is kept.

    mapping (TermMapping): The row.
    object_id (str): The concept, as a CURIE, or `NO_TERM` if none has the term's meaning.
    object_label (str): Its name.
    predicate_id (str): One of `PREDICATES`.
    author (str): A name or an ORCID iD; may be empty.
    correction (str): The id of the correction that says so, too.
    RETURNS (TermMapping): The new row.
    RAISES (ConnormError): CN006 for an author with `|`, which stands between several in SSSOM.
    """
    if "|" in author:
        refuse_text("author", author, "one name, without `|`")
    found = _ORCID.fullmatch(author.strip())
    values = {name: getattr(mapping, name) for name in _REPLACED}
    kept = mapping.proposal or json.dumps(values, ensure_ascii=False)
    is_none = object_id == NO_TERM
    return replace(
        mapping,
        predicate_id=EXACT if is_none else predicate_id,
        object_id=object_id,
        object_label="" if is_none else object_label,
        mapping_justification=MANUAL,
        author_id=f"{ORCID}:{found[1]}" if found else "",
        author_label="" if found else author.strip(),
        mapping_date=date.today().isoformat(),
        confidence=None,
        similarity_score=None,
        match_string="",
        status=UNMATCHED if is_none else ACCEPTED,
        correction=correction,
        proposal=kept,
    )


def take_back(mapping: TermMapping) -> TermMapping:
    """RETURNS (TermMapping): The row as it was before a person decided; the same one if nobody has,
    or if what it was is damaged.
    """
    try:
        values = json.loads(mapping.proposal)
    except ValueError:
        return mapping
    if not isinstance(values, dict) or values.keys() != set(_REPLACED):
        return mapping
    return replace(mapping, **values, proposal="")


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
