"""Decisions of people replace what was found, and can be taken back."""

from dataclasses import replace
from datetime import date

import pytest

from spacy_connorm.documents.sssom import (
    ACCEPTED,
    MANUAL,
    NO_TERM,
    REVIEW,
    UNMATCHED,
    TermMapping,
)
from spacy_connorm.errors import ConnormError
from spacy_connorm.text.words import words_of
from spacy_connorm.workflows import decide_mapping, summarize_mappings, take_back
from spacy_connorm.workflows.mapping_rows import (
    BROAD,
    CLOSE,
    EXACT,
    LEXICAL,
    MEANING,
    NARROW,
    SPELLING,
    find_relation,
)

ROW = TermMapping(
    "local:1",
    CLOSE,
    "MESH:D1",
    MEANING,
    "cold",
    "Cold",
    mapping_date="2020-01-01",
    confidence=0.7,
    similarity_score=0.6,
    count=3,
)


def test_a_decision_is_a_persons():
    row = decide_mapping(
        ROW, object_id="MESH:D2", object_label="Flu", predicate_id=BROAD, author=" Ann "
    )
    assert (row.object_id, row.object_label, row.predicate_id) == ("MESH:D2", "Flu", BROAD)
    assert (row.mapping_justification, row.author_label, row.author_id) == (MANUAL, "Ann", "")
    assert (row.status, row.confidence, row.count) == (ACCEPTED, None, 3)
    assert row.mapping_date == date.today().isoformat() and row.is_decided


def test_an_orcid_is_an_id():
    for author in ("0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"):
        row = decide_mapping(ROW, object_id="MESH:D2", object_label="Flu", author=author)
        assert (row.author_id, row.author_label) == ("orcid:0000-0002-1825-0097", "")


def test_several_authors_are_refused():
    with pytest.raises(ConnormError, match="CN006.*author"):
        decide_mapping(ROW, object_id="MESH:D2", object_label="Flu", author="Ann|Bob")


def test_a_term_that_no_concept_fits_is_unmatched():
    row = decide_mapping(ROW, object_id=NO_TERM, object_label="", predicate_id=BROAD)
    assert (row.object_id, row.status, row.predicate_id) == (NO_TERM, UNMATCHED, EXACT)


def test_the_last_of_several_decisions_is_taken_back_to_what_was_found():
    row = replace(decide_mapping(ROW, object_id=NO_TERM, object_label=""), correction="1")
    row = decide_mapping(row, object_id="MESH:D2", object_label="Flu")
    assert row.correction == ""
    assert take_back(row) == ROW
    assert take_back(ROW) == ROW
    assert take_back(TermMapping("a:1", EXACT, "b:1", MANUAL, proposal="[]")).is_decided


@pytest.mark.parametrize(
    ("term", "name", "predicate"),
    [
        ("Heart attacks", "attack of the heart", EXACT),
        ("recurrent pterygium of left eye", "Pterygium", BROAD),
        ("hypertension", "essential hypertension", NARROW),
        ("head spinning", "dizziness", CLOSE),
        ("conjunctivitis, except viral", "viral conjunctivitis", CLOSE),
        ("+", "+", EXACT),
        ("+", "-", CLOSE),
    ],
)
def test_words_tell_exact_close_broad_and_narrow_relations(term, name, predicate):
    relation = find_relation(term, name, words_of("en"), is_exact=True, by_spelling=False)
    assert relation.predicate == predicate
    shared = predicate == EXACT
    assert relation.justification == (LEXICAL if shared else MEANING)
    assert relation.match_string == (name if shared else "")


def test_a_synonym_that_is_not_exact_claims_less():
    for term in ("cold", "bad cold", "c"):
        found = find_relation(term, "cold", words_of("en"), is_exact=False, by_spelling=True)
        assert found.predicate == CLOSE
        assert found.justification == (LEXICAL if term == "cold" else SPELLING)


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
