from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.ontology import Retired, Successor, Successors, find_changes


def changes(old, new, kind, retired=()):
    old, new = Ontology(old), Ontology(new)
    found = find_changes(old, new, Successors(old, new, dict(retired)))
    return [tuple(change)[1:] for change in found if change.kind == kind]


def test_parents_that_have_only_another_id_are_not_a_move():
    old = [Concept("A", "a"), Concept("B", "b", parents=("A",)), Concept("C", "c", parents=("A",))]
    new = [
        Concept("A2", "a", alt_ids=("A",)),
        Concept("B", "b", parents=("A2",)),
        Concept("C", "c", parents=("B",)),
    ]
    assert changes(old, new, "moved") == [("C", "c", ("A",), ("B",), "")]
    assert changes(old, new, "added") == []


def test_the_same_ids_with_a_prefix_are_the_same_concepts():
    assert changes([Concept("D900001", "a")], [Concept("MESH:D900001", "a")], "retired") == [
        ("D900001", "a", (), ("MESH:D900001",), "other spelling")
    ]


def test_replacements_are_followed_to_a_concept_that_is_there():
    retired = {
        "A": Retired(replaced_by=("B",)),
        "B": Retired(replaced_by=("A", "C")),
        "D": Retired(consider=("C",)),
        "E": Retired(),
    }
    old = Ontology([Concept(letter, letter) for letter in "ADEF"])
    successors = Successors(old, Ontology([Concept("C", "c")]), retired)
    assert successors.find("C") == Successor("C")
    assert successors.find("A") == Successor("C", "replaced_by")
    assert successors.find("D") == Successor("", "consider", ("C",))
    assert [successors.find(letter).reason for letter in "EFG"] == ["retired", "retired", "unknown"]
