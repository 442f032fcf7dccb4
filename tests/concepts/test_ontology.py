import pytest

from spacy_connorm.concepts import Concept, Ontology, read_concepts, write_concepts
from spacy_connorm.errors import ConnormError, ConnormWarning


@pytest.mark.parametrize("concept", [Concept("", "one"), Concept("T:1", "")])
def test_concept_without_id_or_name(concept):
    with pytest.raises(ConnormError, match="CN101"):
        Ontology([concept])


def test_concepts_are_found_by_any_of_their_ids():
    ontology = Ontology(
        [Concept("D003920", "diabetes", alt_ids=("OMIM:1",)), Concept("MIM:2", "b")]
    )
    assert "OMIM:1" in ontology and "C0" not in ontology
    assert ontology["OMIM:1"].canonical_name == "diabetes"
    assert ontology.primary_id("OMIM:2") == "MIM:2"
    assert ontology.primary_id("C0") == "C0"


def test_concepts_of_one_id_are_merged_with_a_warning():
    with pytest.warns(ConnormWarning, match="CNW101.*T:1"):
        ontology = Ontology([Concept("T:1", "one"), Concept("T:1", "uno")])
    assert [concept.names for concept in ontology] == [("one", "uno")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    concepts = [Concept("T:1", "one", ("\ud83d\ude00",)), Concept("T:2", "two", types=("X",))]
    write_concepts(iter(concepts), tmp_path / name)
    assert list(read_concepts(tmp_path / name)) == concepts
    ontology = Ontology.from_disk(tmp_path / name, licence="Ask first.")
    assert list(ontology) == concepts
    assert (ontology.source.path, ontology.source.licence) == (name, "Ask first.")


@pytest.mark.parametrize(("content", "code"), [("", "CN104"), ("\n{}\n", "CN115.*line 2")])
def test_files_without_concepts_are_refused(tmp_path, content, code):
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    with pytest.raises(ConnormError, match=code):
        Ontology.from_disk(path)
