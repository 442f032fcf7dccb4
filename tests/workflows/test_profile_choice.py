"""A known ontology is found by its profile."""

import pytest
import spacy

from spacy_connorm import Concept, Ontology, build_index, load_normalizer
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import join_concepts
from spacy_connorm.ontology.profiles import PROFILES

from .building import COMPONENT, NGRAMS, build_finder, found_in

PHENOTYPES = Ontology(
    [
        Concept("HP:0000001", "All"),
        Concept("HP:0000118", "Phenotypic abnormality", parents=("HP:0000001",)),
        Concept(
            "HP:0001250", "Seizure", ("epilepsy",), parents=("HP:0000118",), related=("epilepsy",)
        ),
        Concept("HP:0012823", "Clinical modifier", parents=("HP:0000001",)),
        Concept("HP:0012828", "Severe", parents=("HP:0012823",)),
    ]
)


SEVERE = "Severe seizures in all of them, epilepsy."


def test_a_known_ontology_is_found_by_its_profile(tmp_path):
    built = build_finder(PHENOTYPES, tmp_path)
    assert built.profile is not None and built.profile.name == "hpo"
    seizure = "HP:0001250"
    assert found_in(SEVERE, built) == [("seizures", seizure), ("epilepsy", seizure)]


DISEASES = Ontology(
    [
        Concept("MONDO:0000001", "disease"),
        Concept("MONDO:0004979", "asthma", parents=("MONDO:0000001",)),
        Concept("MONDO:0005583", "animal disease", parents=("MONDO:0000001",)),
        Concept("MONDO:1", "mange", parents=("MONDO:0005583",)),
    ]
)


CELLS = Ontology([Concept("CL:1", "cell"), Concept("CL:2", "monocyte", parents=("CL:1",))])


def test_joined_ontologies_are_found_by_the_profiles_of_all(tmp_path):
    joined = join_concepts([PHENOTYPES, DISEASES]).ontology
    built = build_finder(joined, tmp_path)
    assert built.profile is not None and built.profile.name == "hpo and mondo"
    text = "Severe seizures, asthma, mange."
    assert found_in(text, built) == [("seizures", "HP:0001250"), ("asthma", "MONDO:0004979")]
    assert not spacy.load(built.path).get_pipe("mention_finder").cfg["inexact_names"]


def test_a_joined_ontology_without_a_profile_is_not_left_out(tmp_path):
    joined = join_concepts([PHENOTYPES, DISEASES, CELLS]).ontology
    built = build_finder(joined, tmp_path)
    assert built.profile is None
    assert found_in("Monocytes, asthma.", built) == [
        ("Monocytes", "CL:2"),
        ("asthma", "MONDO:0004979"),
    ]


def test_a_joined_ontology_below_the_root_of_another_is_not_left_out(tmp_path):
    others = [Concept(f"DO:{n}", f"gout {n}", parents=("HP:0012823",)) for n in range(9)]
    built = build_finder(Ontology([*PHENOTYPES, *others]), tmp_path)
    assert built.profile is None
    assert found_in("Gout 7.", built) == [("Gout 7", "DO:7")]


@pytest.mark.parametrize(
    "settings",
    [
        {"profile": "none", "overrides": NGRAMS},
        {"overrides": {**NGRAMS, f"{COMPONENT}.branches": ["HP:0000001"]}},
    ],
)
def test_a_profile_can_be_switched_off(tmp_path, settings):
    built = build_finder(PHENOTYPES, tmp_path, **settings)
    assert built.profile is None
    assert ("Severe", "HP:0012828") in found_in(SEVERE, built)


def test_a_pipeline_for_given_mentions_links_to_all_concepts(tmp_path):
    built = build_index(PHENOTYPES, tmp_path / "hp", overrides=NGRAMS)
    assert built.profile is None and not load_normalizer(built.path).cfg["branches"]


def test_a_profile_of_another_ontology_is_refused(tmp_path):
    with pytest.raises(ConnormError, match=r"CN406.*SO:0000110"):
        build_finder(PHENOTYPES, tmp_path, profile="so")


def test_the_profile_of_anatomy_takes_no_other_words(tmp_path):
    anatomy = Ontology(
        [
            Concept("UBERON:0001062", "anatomical entity"),
            Concept("UBERON:0002721", "lateral sulcus", parents=("UBERON:0001062",)),
        ]
    )
    built = build_finder(anatomy, tmp_path)
    assert built.profile is not None and built.profile.name == "uberon"
    assert spacy.load(built.path).get_pipe("mention_finder").cfg["min_certainty"] == 1.0


@pytest.mark.parametrize("name", [name for name, each in PROFILES.items() if each.roots])
def test_a_table_without_parents_is_found_whatever_its_ids(tmp_path, name):
    roots = PROFILES[name].roots
    vocabulary = "".join(roots[0].partition(":")[:2]) if ":" in roots[0] else "D"
    table = [Concept(root, f"kind {root}") for root in roots]
    table.append(Concept(f"{vocabulary}000777", "mitral valve"))
    built = build_index(Ontology(table), tmp_path / "a", find_mentions=True, overrides=NGRAMS)
    assert found_in("The mitral valve.", built) == [("mitral valve", table[-1].concept_id)]
    assert (built.profile is None) == (name == "mesh-chemicals")


CHEMICALS = Ontology(
    [
        Concept("D009930", "Organic Chemicals"),
        Concept("D001241", "Aspirin", parents=("D009930",)),
        Concept("D020164", "Chemical Actions and Uses"),
        Concept("D000700", "Analgesics", parents=("D020164",)),
        Concept("D000894", "NSAID", parents=("D000700", "D009930")),
        Concept("C000001", "rofecoxib"),
    ]
)


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({}, ["D000700"]),
        ({f"{COMPONENT}.excluded_branches": ["D009930"]}, ["D001241"]),
    ],
)
def test_actions_of_chemicals_are_not_found(tmp_path, settings, left_out):
    overrides = {**NGRAMS, **settings}
    built = build_finder(CHEMICALS, tmp_path, overrides=overrides)
    assert (built.profile is None) == bool(settings)
    found = found_in("Analgesics (aspirin, rofecoxib and another NSAID)", built)
    ids = {"D000700", "D001241", "C000001", "D000894"}
    assert ids - {concept_id for _, concept_id in found} == {*left_out}


@pytest.mark.parametrize("root", ["NCBITaxon:1", "NCBITaxon:131567"])
def test_genera_have_capitals(tmp_path, root):
    crab, human = "NCBITaxon:6754", "NCBITaxon:9606"
    taxa = [
        Concept(root, "root"),
        Concept(crab, "Cancer", parents=("NCBITaxon:1",)),
        Concept(human, "Homo sapiens", ("human",), parents=("NCBITaxon:1",)),
        *(Concept(f"NCBITaxon:{number}", f"Species {number}") for number in range(2, 20)),
        Concept("NCBITaxon:family", "Family"),
    ]
    built = build_finder(Ontology(taxa), tmp_path)
    assert built.profile is not None and built.profile.name == "ncbitaxon"
    found = [("human", human), ("Humans", human)]
    assert found_in("The human cancer. Humans.", built) == found
    family = [] if root == "NCBITaxon:1" else [("Family", "NCBITaxon:family")]
    assert found_in("Family of crabs: Cancer", built) == [*family, ("Cancer", crab)]


def test_symbols_of_genes_have_capitals(tmp_path):
    genes = [
        Concept("HGNC:20387", "IMPACT", ("impact RWD domain protein",)),
        Concept("HGNC:391", "AKT1", ("AKT serine/threonine kinase 1",)),
        Concept("HGNC:6125", "IRS1", ("insulin receptor substrate 1",)),
    ]
    built = build_index(Ontology(genes), tmp_path / "genes", find_mentions=True, overrides=NGRAMS)
    assert built.profile is not None and built.profile.name == "hgnc"
    text = "The impact of insulin receptor substrate 1 on AKT1."
    expected = [("insulin receptor substrate 1", "HGNC:6125"), ("AKT1", "HGNC:391")]
    assert found_in(text, built) == expected
    assert found_in("IMPACT was deleted.", built) == [("IMPACT", "HGNC:20387")]


def test_external_causes_of_icd_are_not_found(tmp_path):
    causes = "External causes of morbidity (V00-Y99)"
    codes = Ontology(
        [
            Concept("R05", "Cough", types=("Symptoms (R00-R99)",)),
            Concept("X37.9", "Storm", types=(causes,)),
        ]
    )
    built = build_finder(codes, tmp_path)
    assert built.profile is not None and built.profile.name == "icd10cm"
    assert found_in("Cough after a storm", built) == [("Cough", "R05")]
    every = build_finder(codes, tmp_path, profile="none")
    assert found_in("Cough after a storm", every) == [("Cough", "R05"), ("storm", "X37.9")]


def test_names_that_group_half_of_an_ontology_are_not_found(tmp_path):
    kinds = [
        *(Concept(f"T{number}", f"T{number} lymphocyte", parents=("T",)) for number in range(300)),
        *(Concept(f"G{number}", f"G{number} germ cell", parents=("C",)) for number in range(40)),
    ]
    roots = [
        Concept("C", "cell", ("cells", "living cell")),
        Concept("S", "somatic cell", parents=("C",)),
        Concept("T", "lymphocyte", parents=("S",)),
    ]
    ontology = Ontology([*roots, *kinds])
    built = build_finder(ontology, tmp_path)
    assert built.left_out == ("cell", "cells", "living cell", "lymphocyte")
    assert found_in("Somatic cells, T7 lymphocytes, living cells, cells", built) == [
        ("Somatic cells", "S"),
        ("T7 lymphocytes", "T7"),
    ]
    every = build_finder(ontology, tmp_path, profile="none")
    assert not every.left_out and ("cells", "C") in found_in("Some cells", every)
