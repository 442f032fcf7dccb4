from spacy_connorm.concepts import Concept, Ontology, Source
from spacy_connorm.ontology import join_concepts
from spacy_connorm.ontology.joining import Joined


def join(*ontologies: list[Concept]) -> Joined:
    return join_concepts([Ontology(ontology) for ontology in ontologies])


def names(joined: Joined) -> dict[str, tuple[str, ...]]:
    return {concept.concept_id: concept.names for concept in joined.ontology}


def test_the_same_id_in_another_spelling():
    mesh = [Concept("D1", "Dizziness", xrefs=("MESH:D1",))]
    ours = [Concept("MSH:D1", "giddiness")]
    joined = join(mesh, ours)
    assert names(joined) == {"D1": ("Dizziness", "giddiness")}
    assert joined[1:] == (1, 0, 0, 0)
    assert joined.ontology["MSH:D1"].concept_id == "D1"


def test_a_cross_reference_and_a_name():
    mesh = [Concept("D1", "Ache, Head", xrefs=("MESH:D1",))]
    finer = [
        Concept("DOID:1", "migraine", xrefs=("MESH:D1",)),
        Concept("DOID:2", "cephalgia", ("head ache",), xrefs=("MESH:D1",)),
    ]
    joined = join(mesh, finer)
    assert names(joined) == {
        "D1": ("Ache, Head", "cephalgia", "head ache"),
        "DOID:1": ("migraine",),
    }
    assert joined[1:] == (0, 1, 0, 0)


def test_a_code_that_several_refer_to_joins_none_of_them():
    codes = [Concept("R42", "Symptoms of the head", xrefs=("ICD10CM:R42",))]
    findings = [
        Concept(f"T:{name}", name, xrefs=("ICD10CM:R42",)) for name in ("dizziness", "vertigo")
    ]
    assert len(join(codes, findings).ontology) == 3
    (dizziness, _) = findings
    assert join(codes, [dizziness])[1:] == (0, 0, 1, 0)


def test_a_third_vocabulary_that_both_refer_to():
    first = [Concept("A:1", "renal failure", xrefs=("UMLS:C1",))]
    second = [Concept("B:1", "kidney failure", xrefs=("UMLS_CUI:C1", "NCI:C9"))]
    joined = join(first, second)
    assert names(joined) == {"A:1": ("renal failure", "kidney failure")}
    assert joined.ontology["B:1"].xrefs[:3] == ("UMLS:C1", "UMLS_CUI:C1", "NCI:C9")


def test_a_joined_concept_has_its_other_ids_as_codes():
    mesh = [Concept("D1", "Dizziness", xrefs=("MESH:D1",))]
    joined = join([Concept("HP:1", "dizziness", alt_ids=("HP:2",))], mesh).ontology
    assert joined["D1"].concept_id == "HP:1" and joined["HP:1"].alt_ids == ("D1", "HP:2")
    assert joined["HP:1"].xrefs == ("MESH:D1",)
    other = join(mesh, [Concept("HP:1", "dizziness")]).ontology
    assert other["HP:1"].xrefs == ("MESH:D1", "HP:1")


def test_the_same_preferred_name_if_it_is_unique():
    first = [Concept("A:1", "kidney"), Concept("A:2", "cold"), Concept("A:3", "flu", ("cold",))]
    second = [Concept("B:1", "Kidney", ("ren",)), Concept("B:2", "cold")]
    joined = join(first, second)
    assert joined[1:] == (0, 0, 0, 1)
    assert names(joined)["A:1"] == ("kidney", "Kidney", "ren")
    assert "B:2" in names(joined)


def test_chains_of_cross_references_never_join_concepts_of_one_ontology():
    first = [Concept("A:1", "one", xrefs=("X:1",)), Concept("A:2", "two", xrefs=("X:2",))]
    second = [Concept("B:1", "uno", xrefs=("X:1", "Y:1"))]
    third = [Concept("C:1", "two", ("uno",), xrefs=("Y:1", "X:2"))]
    joined = join(first, second, third)
    assert len(joined.ontology) == 2
    assert not {"A:1", "A:2"} <= {*joined.ontology["A:1"].alt_ids, "A:1"}


def test_parents_go_to_the_joined_concepts():
    first = [Concept("A:1", "organ"), Concept("A:2", "kidney", parents=("A:1",))]
    second = [
        Concept("B:0", "thing"),
        Concept("B:1", "organ", parents=("B:0",)),
        Concept("B:2", "kidney", parents=("B:1", "B:9")),
        Concept("B:3", "left kidney", parents=("B:2",)),
    ]
    joined = join(first, second).ontology
    assert joined["B:2"].parents == ("A:1",)
    assert joined["B:3"].parents == ("A:2",)
    assert joined["A:1"].parents == ("B:0",)


def test_the_terms_of_use_of_all_are_kept():
    licensed = Ontology([Concept("A:1", "one")], source=Source("a.obo", "", "Cite us."))
    other = Ontology([Concept("B:1", "two")], source=Source("b.obo", "", "Be kind."))
    source = join_concepts([licensed, other]).ontology.source
    assert source == Source("a.obo, b.obo", "", "a.obo: Cite us.\n\nb.obo: Be kind.")
