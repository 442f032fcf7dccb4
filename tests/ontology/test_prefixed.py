import pytest

from spacy_connorm import (
    Concept,
    ConnormError,
    build_index,
    convert_ontology,
    load_normalizer,
    read_ontology,
)
from spacy_connorm.ontology.prefixed import with_curies


def test_ids_get_their_prefix_and_stay_as_alternate_ids(data):
    concepts = read_ontology(data / "ctd_diseases.tsv", curies=True)
    sniffles = concepts["D900001"]
    assert sniffles.concept_id == "MESH:D900001"
    assert sniffles.parents == ("MESH:D900000",)
    assert sniffles.alt_ids == ("DOID:90001", "OMIM:900001", "D900001")
    assert concepts["OMIM:900002"].parents == ("MESH:D900000", "MESH:D900001")
    codes = read_ontology(data / "icd10cm_order.txt", curies=True)
    assert codes["A90.0"].concept_id == "ICD10CM:A90.0"
    assert codes["A90.0"].parents == ("ICD10CM:A90",)


@pytest.mark.parametrize(
    "concept", [Concept("404640003", "dizziness"), Concept("HP:1", "x", parents=("HP:2",))]
)
def test_ids_with_a_prefix_or_of_no_known_vocabulary_stay(concept):
    assert with_curies(concept) == concept


def test_a_pipeline_writes_them_and_takes_the_others(data, tmp_path, ngrams):
    convert_ontology(data / "ctd_diseases.tsv", tmp_path / "ctd.jsonl", curies=True)
    overrides = {ngrams[0].removeprefix("--"): ngrams[1]}
    built = build_index(tmp_path / "ctd.jsonl", tmp_path / "index", overrides=overrides)
    normalizer = load_normalizer(built.path)
    normalizer.add_synonyms([("wet nose", "D900001"), ("dry nose", "MSH:D900000")])
    found = normalizer.candidates(["sniffles", "wet nose", "dry nose"], top_k=1)
    ids = ["MESH:D900001", "MESH:D900001", "MESH:D900000"]
    assert [each[0].concept_id for each in found] == ids


def test_a_setting_that_no_format_has_is_refused(data):
    with pytest.raises(ConnormError, match="CN113"):
        read_ontology(data / "ctd_diseases.tsv", curie=True)


def test_ids_that_look_like_those_of_mesh_stay_in_their_vocabulary():
    concept = Concept("C102883", "x", parents=("C102870", "D000001"), xrefs=("NCIT:C102883",))
    assert with_curies(concept).parents == ("NCIT:C102870", "MESH:D000001")
