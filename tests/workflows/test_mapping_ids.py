"""Codes and concept ids become CURIEs, and are read again."""

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows.mapping_ids import MappingIds, concept_curie, concept_ids_of


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
    curie = concept_curie(concept_id, "")
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
def test_bad_prefixes_and_addresses_are_refused(prefix, addresses):
    with pytest.raises(ConnormError, match="CN006"):
        MappingIds(prefix, addresses)
