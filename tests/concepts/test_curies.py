import pytest

from spacy_connorm.concepts.curies import PREFIXES, join_curie, split_curie


@pytest.mark.parametrize(
    "pair",
    [
        "MSH:D003920 > MESH:D003920",
        "UMLS_CUI:C0012833 > UMLS:C0012833",
        "SNOMEDCT_US_2016_03_01:404640003 > SNOMEDCT:404640003",
        "MIM:264300 > OMIM:264300",
        "DO:DOID:9351 > DOID:9351",
        "icd10cm:R42 > ICD10CM:R42",
        "FMA:46472 > FMA:46472",
        "MSH:C18.452.394.750 > MESHTREE:C18.452.394.750",
    ],
)
def test_a_vocabulary_has_one_prefix(pair):
    written, normalized = pair.split(" > ")
    assert PREFIXES.curies([written, normalized]) == (normalized,)


@pytest.mark.parametrize(
    "written", ["D003920", "http://x.org/a", "PMID:1", "a b:c", "UMLS:", "MTH:NOCODE", ""]
)
def test_values_that_are_not_ids_of_a_vocabulary_are_left_out(written):
    assert PREFIXES.curies([written]) == ()


def test_an_id_keeps_the_prefix_that_it_has():
    assert [join_curie("HPO", "HP:1"), join_curie("MESH", "D1")] == ["HP:1", "MESH:D1"]
    assert [split_curie("HP:1"), split_curie("D1")] == [("HP", "1"), ("", "D1")]


@pytest.mark.parametrize(
    ("concept_id", "xrefs", "own"),
    [
        ("HPO:0000118", (), "HP:0000118"),
        ("D003920", (), "MESH:D003920"),
        ("C000657245", (), "MESH:C000657245"),
        ("C0012833", (), "UMLS:C0012833"),
        ("R42", ("UMLS:C0012833", "ICD10CM:R42"), "ICD10CM:R42"),
        ("404640003", (), ""),
        ("D1", ("MESH:D2",), ""),
    ],
)
def test_the_vocabulary_of_an_id_is_told_or_seen(concept_id, xrefs, own):
    assert PREFIXES.own_curie(concept_id, xrefs) == own


@pytest.mark.parametrize(
    "pair",
    [
        "MSH:D003920 > MESH:D003920 D003920",
        "MESH:D003920 > D003920",
        "D003920 > MESH:D003920",
        "mim:222100 > OMIM:222100",
        "HP:0000118 > ",
        "HP_0000118 > HP:0000118",
        "NCIT_C3262 > NCIT:C3262",
        "E11_9 > ",
        "msh_003920 > msh:003920 MESH:003920",
        "404640003 > ",
        "a text > ",
    ],
)
def test_other_spellings_of_an_id(pair):
    concept_id, others = pair.split(" > ")
    assert PREFIXES.spellings_of(concept_id) == tuple(others.split())


def test_addresses_are_those_of_the_vocabularies():
    assert PREFIXES.address("HPO:0000118") == "http://purl.obolibrary.org/obo/HP_0000118"
    assert PREFIXES.address("MESH:D003920") == "http://id.nlm.nih.gov/mesh/D003920"
    assert PREFIXES.address("LOCAL:1") == PREFIXES.address("D003920") == ""


def test_users_add_prefixes_of_their_own():
    own = PREFIXES.extended({"msh2019": "MSH", "Local": "https://example.org/t/", "DO": "DOID"})
    assert own.curies(["MSH2019:D1", "MESH:D1", "do:1", "local:7"]) == (
        "MESH:D1",
        "DOID:1",
        "LOCAL:7",
    )
    assert own.address("local:7") == "https://example.org/t/7"
    assert own.knows("LOCAL") and not PREFIXES.knows("LOCAL")
    assert PREFIXES.curie("MSH2019:D1") == "MSH2019:D1"
