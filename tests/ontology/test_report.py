import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormWarning
from spacy_connorm.ontology import Finding, Inventory, warn_about


def summarize(concepts):
    inventory = Inventory()
    assert list(inventory.watch(iter(concepts))) == concepts
    return inventory.summary(concepts)


def child(concept_id, *parents):
    return Concept(concept_id, f"name of {concept_id}", parents=parents)


def test_counts():
    summary = summarize(
        [
            Concept("T:1", "one", ("uno", "one", "ONE"), alt_ids=("T:8", "T:9")),
            Concept("T:2", "two", alt_ids=("T:9",), parents=("T:1", "T:8")),
        ]
    )
    assert (summary.concepts, summary.names, summary.ids, summary.parents) == (2, 4, 4, 2)
    assert summary.missing_parents == summary.circular == summary.repeated_ids == Finding()
    assert summary.shared_names == summary.long_names == Finding()


def test_a_name_of_two_concepts_is_found_whatever_its_case():
    cold = Concept("T:1", "Cold", ("COLD",)), Concept("T:2", "chills", ("cold",))
    assert summarize([*cold, Concept("T:3", "fever")]).shared_names == Finding(1, "cold")


def test_a_repeated_id_is_one_concept():
    summary = summarize([Concept("T:0", "zero"), Concept("T:1", "one"), Concept("T:1", "One")])
    assert summary.repeated_ids == Finding(1, "T:1")
    assert summary.shared_names == Finding()


def test_parents_that_are_not_there():
    summary = summarize([child("T:1", "T:7"), child("T:2", "T:7", "T:8")])
    assert summary.missing_parents == Finding(2, "T:7")
    assert summary.circular == Finding()


@pytest.mark.parametrize(
    ("concepts", "expected"),
    [
        ([], Finding()),
        ([child("a", "b"), child("b", "c"), child("c"), child("d", "b", "c")], Finding()),
        ([child("root"), child("a", "a", "root"), child("b", "a")], Finding(1, "a")),
        ([child("x", "b"), child("a", "b"), child("b", "c"), child("c", "a")], Finding(3, "a")),
        (
            [child("a", "b"), child("b", "a", "c"), child("c", "d"), child("d", "c")],
            Finding(4, "a"),
        ),
    ],
)
def test_circles_of_parents(concepts, expected):
    assert summarize(concepts).circular == expected


def test_a_hierarchy_however_deep():
    chain = [child(str(i), str(i - 1)) for i in range(1, 5_000)]
    assert summarize([child("0"), *chain]).circular == Finding()
    assert summarize([child("0", "4999"), *chain]).circular == Finding(5_000, "0")


def test_very_long_names_are_kept_and_counted():
    summary = summarize([Concept("T:1", "x" * 10_000, ("y" * 10_000, "z"))])
    assert summary.long_names == Finding(2, "T:1")


def test_ids_that_look_like_several_ones_are_counted():
    concepts = [child("T:1"), child("T:1|T:2"), child("T:3+"), child("T:4 a-b")]
    with pytest.warns(ConnormWarning, match=r"CNW106.*: 2.*'T:1\|T:2'"):
        warn_about(summarize(concepts))


def test_warnings_name_the_first_example():
    concepts = [child("T:1", "T:1"), child("T:1", "T:7"), Concept("T:2", "x" * 10_000)]
    with pytest.warns(ConnormWarning) as caught:
        warn_about(summarize(concepts))
    messages = [str(warning.message) for warning in caught]
    for code, first in (("CNW101", "T:1"), ("CNW103", "T:7"), ("CNW104", "T:1"), ("CNW105", "T:2")):
        assert any(code in message and f"'{first}'" in message for message in messages)


def test_a_faultless_ontology_is_not_read_again():
    inventory = Inventory()
    list(inventory.watch([Concept("A", "a"), Concept("B", "b")]))

    def again():
        raise AssertionError("read again")
        yield

    assert inventory.summary(again()).concepts == 2
