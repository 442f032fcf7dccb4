import pytest

from spacy_connorm.ontology.curies import curie, normalized_curies


@pytest.mark.parametrize(
    ("written", "normalized"),
    [
        ("MSH:D003920", "MESH:D003920"),
        ("UMLS_CUI:C0012833", "UMLS:C0012833"),
        ("SNOMEDCT_US_2016_03_01:404640003", "SNOMEDCT:404640003"),
        ("MIM:264300", "OMIM:264300"),
        ("DO:DOID:9351", "DOID:9351"),
        ("icd10cm:R42", "ICD10CM:R42"),
        ("FMA:46472", "FMA:46472"),
    ],
)
def test_a_vocabulary_has_one_prefix(written, normalized):
    assert normalized_curies([written, normalized]) == (normalized,)


@pytest.mark.parametrize("written", ["D003920", "http://x.org/a", "PMID:1", "a b:c", "UMLS:", ""])
def test_what_is_no_id_in_a_vocabulary_is_left_out(written):
    assert normalized_curies([written]) == ()


def test_an_id_keeps_the_prefix_that_it_has():
    assert [curie("HPO", "HP:1"), curie("MESH", "D1")] == ["HP:1", "MESH:D1"]
