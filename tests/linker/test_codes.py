"""Codes of candidates in other vocabularies, and ids with and without a prefix."""

import pytest
import spacy

from spacy_connorm import Concept, ConnormError, Ontology

CONCEPTS = (
    Concept(
        "D900001",
        "sniffles",
        ("drip",),
        xrefs=("MESH:D900001", "ICD10CM:A90.0", "ICD10CM:A90.1", "MSH:C01.100", "FOO2019:7"),
    ),
    Concept("DOID:2", "sneezing", alt_ids=("DOID:3",), xrefs=("UMLS:C9000002",)),
    Concept("404640003", "dizziness", xrefs=("SNOMEDCT:404640003",)),
    Concept("222100", "vertigo"),
)


@pytest.fixture(scope="module")
def ontology():
    return Ontology(CONCEPTS)


def codes(normalizer, text, *systems):
    (found,) = normalizer.candidates([text], top_k=1, code_systems=systems or None)
    return found[0].codes


def test_a_candidate_tells_its_codes_in_each_system_also_that_it_has_none(make_normalizer):
    normalizer = make_normalizer(code_systems=["icd-10-cm", "MSH"])
    assert codes(normalizer, "sniffles") == {"ICD10CM": ["A90.0", "A90.1"], "MESH": ["D900001"]}
    assert codes(normalizer, "sneezing") == {"ICD10CM": [], "MESH": []}
    assert codes(normalizer, "sneezing", "UMLS", "DOID") == {"UMLS": ["C9000002"], "DOID": ["2"]}


def test_without_systems_there_are_no_codes(normalizer):
    assert codes(normalizer, "sniffles") is None
    assert normalizer.candidates(["nothing of it"], code_systems=["MESH"])[0] is not None


def test_codes_stay_on_the_document(make_pipeline):
    nlp = make_pipeline(code_systems=["ICD10CM"])
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "F", "pattern": "drip"}])
    doc = nlp("A drip.")
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    expected = {"ICD10CM": ["A90.0", "A90.1"]}
    assert doc.ents[0]._.candidates[0].codes == again.ents[0]._.candidates[0].codes == expected


def test_saved_and_loaded_they_are_the_same(make_pipeline, tmp_path):
    nlp = make_pipeline(code_systems=["ICD10CM"], prefixes={"FOO2019": "FOO"})
    nlp.to_disk(tmp_path / "saved")
    normalizer = spacy.load(tmp_path / "saved").get_pipe("concept_normalizer")
    assert codes(normalizer, "sniffles") == {"ICD10CM": ["A90.0", "A90.1"]}
    assert codes(normalizer, "sniffles", "foo") == {"FOO": ["7"]}
    xrefs = ("MESH:D900001", "ICD10CM:A90.0", "ICD10CM:A90.1", "MESHTREE:C01.100", "FOO2019:7")
    assert normalizer.concept("D900001").xrefs == xrefs


@pytest.mark.parametrize("systems", [["LOINC"], ["ICD10CM", "loinc"]])
def test_a_system_without_any_code_is_refused(make_pipeline, normalizer, systems):
    with pytest.raises(ConnormError, match="CN413.*LOINC.*DOID, FOO2019, ICD10CM, MESH"):
        make_pipeline(code_systems=systems)
    with pytest.raises(ConnormError, match="CN413"):
        normalizer.candidates([], code_systems=systems)


def test_one_system_must_be_in_a_list(normalizer):
    with pytest.raises(ConnormError, match="CN006.*code_systems"):
        normalizer.candidates(["drip"], code_systems="MESH")


@pytest.mark.parametrize(
    "pair",
    [
        "MESH:D900001 > D900001",
        "mesh:D900001 > D900001",
        "MSH:D900001 > D900001",
        "doid:2 > DOID:2",
        "DO:DOID:3 > DOID:2",
        "SCTID:404640003 > 404640003",
        "LOCAL:D900001 > D900001",
    ],
)
def test_ids_come_in_with_any_prefix_of_their_vocabulary(make_normalizer, pair):
    written, concept_id = pair.split(" > ")
    normalizer = make_normalizer(prefixes={"local": "MESH"})
    assert normalizer.concept(written).concept_id == concept_id
    normalizer.add_synonyms([("wet nose", written)])
    (found,) = normalizer.candidates(["wet nose"], branches=[written])
    assert [(candidate.concept_id, candidate.search) for candidate in found] == [
        (concept_id, "D-T")
    ]
    normalizer.remove_synonyms([("wet nose", written)])
    assert normalizer.lookup.changed_synonyms() == []


@pytest.mark.parametrize("written", ["OMIM:222100", "OMIM:404640003", "UMLS:D900001", "222100x"])
def test_an_id_of_another_vocabulary_is_not_taken_for_one_without_a_prefix(normalizer, written):
    with pytest.raises(ConnormError, match="CN411"):
        normalizer.concept(written)


def test_gold_ids_with_a_prefix_make_no_new_concepts(make_pipeline):
    synonyms = [("runny nose", "MESH:D900001"), ("giddy", "SNOMED:404640003")]
    normalizer = make_pipeline(synonyms=synonyms).get_pipe("concept_normalizer")
    assert normalizer.lookup.index.manifest["counts"]["concepts_only_in_data"] == 0
    found = normalizer.candidates(["runny nose", "giddy"], top_k=1)
    assert [each[0].concept_id for each in found] == ["D900001", "404640003"]
