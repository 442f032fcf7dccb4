"""Scores from plain text, against counts by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.evaluation.end_to_end import (
    MEASURES,
    DocumentSpans,
    LinkedSpan,
    list_span_mistakes,
    score_documents,
)


def span(start, end, *ids):
    return LinkedSpan(start, end, f"{start}-{end}", frozenset(ids))


GOLD = [span(0, 5, "A"), span(10, 15, "B"), span(20, 25), span(30, 40, "C", "D")]
FOUND = [span(0, 5, "A"), span(10, 15, "X"), span(20, 25), span(32, 40, "C"), span(50, 52, "B")]
DOCUMENTS = [
    DocumentSpans(GOLD, FOUND),
    DocumentSpans([], []),
    DocumentSpans([span(1, 2, "E")], []),
]

SPANS = st.builds(
    lambda start, size, ids: span(start, start + size, *ids),
    st.integers(0, 8),
    st.integers(1, 3),
    st.sets(st.sampled_from("AB"), max_size=2),
)
LISTS = st.lists(SPANS, max_size=4, unique_by=lambda each: each[:2])


def test_each_measure_counts_what_it_says():
    row = score_documents(DOCUMENTS)
    assert (row["documents"], row["mentions"], row["found"]) == (3, 5, 5)
    assert (row["mention_precision"], row["mention_recall"], row["mention_f1"]) == (60, 60, 60)
    assert (row["overlap_precision"], row["overlap_recall"]) == (80, 80)
    # A found span without an id, and a gold one, count for no link: 1 of 4, and of 4.
    assert (row["linked_precision"], row["linked_recall"]) == (25, 25)
    # A, B, C of A, X, C, B; and of A, B, C, D, E.
    assert (row["document_precision"], row["document_recall"]) == (75, 60)
    # The document without mentions is no part of the mean: (3/4 + 0) / 2.
    assert row["document_macro_precision"] == 37.5
    for measure in MEASURES:
        assert row[f"{measure}_f1_low"] <= row[f"{measure}_f1"] <= row[f"{measure}_f1_high"]


def test_nothing_found_and_nothing_to_find():
    row = score_documents([DocumentSpans([], [])])
    assert row["mention_f1"] == row["document_f1"] == 0
    assert row["document_macro_f1"] is None


def test_mistakes_are_listed_by_kind():
    rows = list_span_mistakes([*DOCUMENTS, DocumentSpans([], [span(50, 52, "B")])])
    assert [(row["kind"], row["times"], row["mention"], row["found"]) for row in rows] == [
        ("missed", 1, "1-2", ""),
        ("invented", 2, "", "50-52"),
        ("wrong boundary", 1, "30-40", "32-40"),
        ("wrong id", 1, "10-15", "10-15"),
    ]
    assert (rows[2]["gold"], rows[2]["written"]) == ("C|D", "C")
    assert list_span_mistakes([]) == []


@given(gold=LISTS, found=LISTS)
def test_overlaps_are_those_of_a_plain_comparison(gold, found):
    *_, counts = (DocumentSpans(gold, found).counts()[:2],)
    exact, overlap = counts
    meet = [(g, f) for g in gold for f in found if g.start < f.end and f.start < g.end]
    assert overlap == [
        len({f[:2] for _, f in meet}),
        len(found),
        len({g[:2] for g, _ in meet}),
        len(gold),
    ]
    assert exact[0] == len({g[:2] for g in gold} & {f[:2] for f in found})


@given(spans=LISTS)
def test_what_is_found_as_annotated_is_right(spans):
    row = score_documents([DocumentSpans(spans, spans)])
    assert row["mention_f1"] == row["overlap_f1"] == (100 if spans else 0)
    assert list_span_mistakes([DocumentSpans(spans, spans)]) == []


@pytest.mark.parametrize("ids", [(), ("A",)])
def test_a_gold_mention_without_an_id_asks_for_no_link(ids):
    document = DocumentSpans([span(0, 5)], [span(0, 5, *ids)])
    assert list_span_mistakes([document]) == []
    assert score_documents([document])["linked_f1"] == 0
