"""Decisions of people replace what was found, and can be taken back."""

from datetime import date

import pytest

from spacy_connorm.documents.sssom import (
    ACCEPTED,
    MANUAL,
    NO_TERM,
    UNMATCHED,
    TermMapping,
)
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import decide_mapping, take_back
from spacy_connorm.workflows.mapping_relations import BROAD, CLOSE, EXACT, MEANING

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
    row = decide_mapping(ROW, object_id=NO_TERM, object_label="", correction="1")
    row = decide_mapping(row, object_id="MESH:D2", object_label="Flu")
    assert take_back(row) == ROW
    assert take_back(ROW) == ROW
    assert take_back(TermMapping("a:1", EXACT, "b:1", MANUAL, proposal="[]")).is_decided
