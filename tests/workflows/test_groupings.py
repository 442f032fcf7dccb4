"""Names that only group other concepts are not found."""

from spacy_connorm import Concept, Ontology

from .building import build_finder, found_in


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
