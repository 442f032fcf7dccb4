from datetime import date

import pytest

from spacy_connorm.documents.sssom import ACCEPTED, MANUAL, NO_TERM, REVIEW, UNMATCHED, TermMapping
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import decide_mapping, summarize_mappings, take_back
from spacy_connorm.workflows.mapping_rows import (
    BROAD,
    CLOSE,
    EXACT,
    LEXICAL,
    MEANING,
    NARROW,
    SPELLING,
    MappingIds,
    concept_ids_of,
    find_relation,
)


def test_codes_get_a_prefix():
    ids = MappingIds("icd10cm", {"DEMO": "https://example.org/"})
    assert ids.subject("E11.9") == "ICD10CM:E11.9"
    assert ids.subject("a b|c") == "ICD10CM:a%20b%7Cc"
    assert ids.subject("DOID:4") == "DOID:4"
    assert ids.subject("demo:4") == "demo:4"
    assert ids.subject("X:4") == "ICD10CM:X%3A4"
    assert MappingIds("ward_7", {}).subject("E11.9") == "ward_7:E11.9"


@pytest.mark.parametrize(
    "concept_id", ["MESH:D003920", "D003920", "C0012833", "C2", "a b", "x:y z"]
)
def test_concept_ids_are_found_again(concept_id):
    curie = MappingIds("local", {}).concept(concept_id)
    assert ":" in curie and " " not in curie
    assert concept_id in concept_ids_of(curie)
    assert concept_ids_of("sssom:NoTermFound") == []


def test_prefixes_have_addresses():
    ids = MappingIds("local", {"demo": "https://example.org/"})
    curies = ["MESH:D1", "DEMO:1", "local:2", "sssom:NoTermFound", "orcid:0000-0001-2345-6789", ""]
    assert ids.addresses_of(curies) == {
        "DEMO": "https://example.org/",
        "MESH": "http://id.nlm.nih.gov/mesh/",
        "local": "urn:connorm:local:",
        "orcid": "https://orcid.org/",
    }


@pytest.mark.parametrize(
    ("prefix", "addresses"), [("a b", {}), ("", {}), ("a", {"b:": "x:"}), ("a", {"b": "here"})]
)
def test_what_is_no_prefix(prefix, addresses):
    with pytest.raises(ConnormError, match="CN006"):
        MappingIds(prefix, addresses)


@pytest.mark.parametrize(
    ("term", "name", "predicate"),
    [
        ("Heart attacks", "attack of the heart", EXACT),
        ("Cholera, unspecified", "cholera", EXACT),
        ("recurrent pterygium of left eye", "Pterygium", BROAD),
        ("hypertension", "essential hypertension", NARROW),
        ("head spinning", "dizziness", CLOSE),
        ("conjunctivitis, except viral", "viral conjunctivitis", CLOSE),
        ("other cholera", "cholera", CLOSE),
        ("+", "+", EXACT),
        ("+", "-", CLOSE),
    ],
)
def test_what_words_say(term, name, predicate):
    relation = find_relation(term, name, is_exact=True, by_spelling=False)
    assert relation.predicate == predicate
    shared = predicate == EXACT
    assert relation.justification == (LEXICAL if shared else MEANING)
    assert relation.match_string == (name if shared else "")


def test_a_synonym_that_is_not_exact_claims_less():
    for term in ("cold", "bad cold", "c"):
        found = find_relation(term, "cold", is_exact=False, by_spelling=True)
        assert found.predicate == CLOSE
        assert found.justification == (LEXICAL if term == "cold" else SPELLING)


ROW = TermMapping(
    *("local:1", CLOSE, "MESH:D1", MEANING, "cold", "Cold"),
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


def test_none_fits():
    row = decide_mapping(ROW, object_id=NO_TERM, object_label="", predicate_id=BROAD)
    assert (row.object_id, row.status, row.predicate_id) == (NO_TERM, UNMATCHED, EXACT)


def test_the_last_of_several_decisions_is_taken_back_to_what_was_found():
    row = decide_mapping(ROW, object_id=NO_TERM, object_label="", correction="1")
    row = decide_mapping(row, object_id="MESH:D2", object_label="Flu")
    assert take_back(row) == ROW
    assert take_back(ROW) == ROW
    assert take_back(TermMapping("a:1", EXACT, "b:1", MANUAL, proposal="[]")).is_decided


def test_rows_and_counts():
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
