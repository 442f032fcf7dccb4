"""Terms are counted by the result of their mapping."""

from spacy_connorm.documents.sssom import (
    ACCEPTED,
    MANUAL,
    REVIEW,
    UNMATCHED,
    TermMapping,
)
from spacy_connorm.workflows import summarize_mappings
from spacy_connorm.workflows.mapping_relations import EXACT, MEANING


def test_a_summary_counts_rows_and_their_records_by_status():
    rows = [
        TermMapping("a:1", EXACT, "b:1", MEANING, status=ACCEPTED, count=6),
        TermMapping("a:2", EXACT, "b:1", MANUAL, status=ACCEPTED, count=0),
        TermMapping("a:3", EXACT, "b:1", MEANING, status=REVIEW, count=2),
    ]
    summary = summarize_mappings(rows, measure="cosine")
    assert summary.rows == {ACCEPTED: 2, REVIEW: 1, UNMATCHED: 0}
    assert summary.counts == {ACCEPTED: 6, REVIEW: 2, UNMATCHED: 0}
    assert summary.share(ACCEPTED) == (2 / 3, 0.75)
    assert summary.decided == 1
    assert summarize_mappings([]).share(REVIEW) == (0, 0)
