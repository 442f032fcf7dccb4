"""Concepts in SQLite, and a file that is damaged or replaced."""

import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.index.names import NameFile
from spacy_connorm.index.search import O
from spacy_connorm.index.store import NAMES, ConceptStore
from spacy_connorm.index.store_writer import StoreWriter

CONCEPTS = [
    Concept("A", "Root", types=("T1",), alt_ids=("X", "C")),
    Concept("B", "Child", parents=("A", "D"), types=("T1", "T2"), definition="of A"),
    Concept("C", "Grandchild", parents=("B", "nowhere"), types=("T2",)),
    Concept("D", "Makes a cycle 🧬 שלום", parents=("C",)),
]


def write_store(path, concepts, texts):
    with StoreWriter(path) as writer:
        for concept in concepts:
            writer.add(concept)
        numbers = writer.number()
        writer.close()
    write_texts(path.parent, texts)
    return numbers


def write_texts(folder, texts):
    with NameFile(folder / "names.txt", lambda texts: np.zeros(len(texts), "uint64")) as names:
        for text in texts or ["unused"]:
            names.add(text, 0, O)
        names.write(names.ordered(np.zeros(1, "int32")).texts, folder)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "concepts #1?.sqlite"
    write_store(path, CONCEPTS, ["root", "child"])
    return ConceptStore(path)


def test_numbers_follow_the_order_and_ids_lead_alternates(store):
    assert [store.number(concept_id) for concept_id in ("A", "B", "X")] == [0, 1, 0]
    assert store.number("C") == 2
    assert store.number("nowhere") is None
    assert len(store) == 4


@pytest.mark.parametrize("concepts", [CONCEPTS, CONCEPTS[::-1]], ids=["in order", "reversed"])
def test_any_order_gives_the_same_store(tmp_path, store, concepts):
    numbers = write_store(tmp_path / "s", concepts, [])
    assert [concepts[place].concept_id for place in numbers.argsort()] == ["A", "B", "C", "D"]
    again = ConceptStore(tmp_path / "s")
    assert [again.concept(number) for number in range(4)] == list(map(store.concept, range(4)))
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".stage"] == []


def test_concepts_that_only_data_has_are_told_and_named(tmp_path):
    with StoreWriter(tmp_path / "s") as writer:
        for concept in CONCEPTS:
            writer.add(concept)
        said = [
            ("X", "root"),
            ("new", "two"),
            ("new", "one"),
            ("A", "root"),
            ("0", "b"),
            ("0", "a"),
        ]
        places = [writer.place(concept_id, text) for concept_id, text in [*said, ("new", "two")]]
        assert places == [0, 4, 4, 0, 5, 5, 4]
        assert (len(writer), writer.only_in_data) == (6, 2)
        with pytest.warns(ConnormWarning, match="CNW401.*2 concept"):
            assert writer.number().tolist() == [1, 2, 3, 4, 5, 0]
        writer.close()
    write_texts(tmp_path, [])
    store = ConceptStore(tmp_path / "s")
    assert [store.in_ontology(number) for number in range(6)] == [False, *[True] * 4, False]
    assert store.labels([0, 5]) == {0: ("0", "a"), 5: ("new", "two")}


def test_concepts_of_one_id_are_merged(tmp_path):
    concepts = [
        Concept("A1", "one", types=("T1", "T2"), parents=("B",)),
        Concept("B", "other"),
        Concept("A1", "two", types=("T2", "T3"), parents=("B",), alt_ids=("X",), definition="of A"),
        Concept("A1", "three", definition="later"),
    ]
    with StoreWriter(tmp_path / "s") as writer:
        assert [writer.add(concept) for concept in concepts] == [
            (0, True),
            (1, True),
            (0, False),
            (0, False),
        ]
        with pytest.warns(ConnormWarning, match="CNW101.*1 concept.*'A1'"):
            writer.number()
        writer.close()
    write_texts(tmp_path, [])
    merged = Concept(
        "A1",
        "one",
        types=("T1", "T2", "T3"),
        parents=("B",),
        alt_ids=("X",),
        definition="of A",
    )
    assert ConceptStore(tmp_path / "s").concept(0) == merged


def test_names_and_texts_come_by_number(store):
    assert store.labels([3, 0, 3]) == {3: ("D", "Makes a cycle 🧬 שלום"), 0: ("A", "Root")}
    assert store.texts([1]) == {1: "child"}
    assert store.texts([]) == {}


@pytest.mark.parametrize("members", [[2], [-1], [0, 2]])
def test_texts_that_are_lost_are_told(store, members):
    with pytest.raises(ConnormError, match="CN402.*names.utf8.npy"):
        store.texts(members)


def test_texts_that_are_damaged_are_told(store):
    path = store.path.with_name(f"{NAMES}.utf8.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    assert ConceptStore(store.path).texts([0]) == {0: "root"}
    with pytest.raises(ConnormError, match="CN402.*names.utf8.npy"):
        ConceptStore(store.path).texts([1])
    path.write_bytes(path.read_bytes()[:128])
    with pytest.raises(ConnormError, match="CN402.*names.utf8.npy"):
        ConceptStore(store.path)


def test_more_numbers_than_one_query_takes(tmp_path):
    concepts = [Concept(f"{number:05}", f"name {number}") for number in range(1500)]
    write_store(tmp_path / "s", concepts, [])
    assert len(ConceptStore(tmp_path / "s").labels(range(1500))) == 1500


def test_concept_is_read_back(store):
    assert store.concept(1) == CONCEPTS[1]
    assert store.concept(2).parents == ("B",)


def test_types_are_united(store):
    assert store.of_types(["T1"]).tolist() == [0, 1]
    assert store.of_types(["T1", "T2"]).tolist() == [0, 1, 2]


def test_branches_hold_themselves_and_survive_cycles(store):
    assert store.of_branches(["A"]).tolist() == [0, 1, 2, 3]
    assert store.of_branches(["C"]).tolist() == [1, 2, 3]
    assert store.of_branches(["X"]).tolist() == [0, 1, 2, 3]


def test_what_is_also_below_others_is_not_only_below(tmp_path):
    parents = {"root": [], "use": ["root"], "drug": ["use"], "salt": ["drug", "root"]}
    concepts = [Concept(each, each, parents=above) for each, above in parents.items()]
    concepts += [Concept("one", "one", parents=["salt", "drug"]), Concept("alone", "alone")]
    path = tmp_path / "only.sqlite"
    write_store(path, concepts, [])
    store = ConceptStore(path)
    numbers = {concept.concept_id: store.number(concept.concept_id) for concept in concepts}
    out = store.only_below(["use"])
    assert {each for each, number in numbers.items() if out[number]} == {"use", "drug"}
    assert {*store.placed()} == {*numbers.values()} - {numbers["alone"]}


def test_only_below_survives_cycles(store):
    assert store.only_below(["A"]).tolist() == [True] * 4


def test_ancestors_survive_cycles(store):
    assert store.ancestors(0) == frozenset()
    assert store.ancestors(2) == {0, 1, 2, 3}


def test_unknown_type_and_branch(store):
    with pytest.raises(ConnormError, match="CN406.*'T9'.*Its semantic types: T1, T2"):
        store.of_types(["T1", "T9"])
    with pytest.raises(ConnormError, match="CN406.*Z"):
        store.of_branches(["A", "Z"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_worker_opens_its_own_connection(store):
    assert store.number("A") == 0
    child = os.fork()
    if not child:
        os._exit(0 if store.number("B") == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.number("C") == 2


def replaced(path):
    again = path.with_name("again.sqlite")
    write_store(again, CONCEPTS[1:], [])
    os.utime(again, ns=(0, path.stat().st_mtime_ns + 1_000_000))
    again.replace(path)


@pytest.mark.parametrize("change", [replaced, Path.unlink])
def test_file_that_is_replaced_before_it_is_asked_is_not_mixed_with_the_old(store, change):
    change(store.path)
    with pytest.raises(ConnormError, match="CN402"):
        store.number("A")


def test_copy_of_the_file_in_its_place_does_no_harm(store):
    copy = shutil.copy2(store.path, store.path.with_name("copy.sqlite"))
    Path(copy).replace(store.path)
    assert store.number("A") == 0


def test_damaged_file_is_named(tmp_path):
    path = tmp_path / "concepts.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at" * 40)
    write_store(tmp_path / "other.sqlite", CONCEPTS, [])
    with pytest.raises(ConnormError, match=r"CN402.*concepts\.sqlite"):
        ConceptStore(path).number("A")


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("DELETE FROM concepts WHERE number = 3", lambda store: store.concept(3)),
        ("UPDATE parents SET child = 'x' WHERE parent = 0", lambda store: store.of_branches("A")),
        ("UPDATE parents SET child = 99 WHERE parent = 0", lambda store: store.of_branches("A")),
        ("UPDATE types SET type = x'00'", lambda store: store.concept(0)),
    ],
)
def test_rows_that_are_lost_or_changed_are_told_when_they_are_read(store, statement, read):
    with sqlite3.connect(store.path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(ConnormError, match="CN402"):
        read(ConceptStore(store.path))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON concepts BEGIN SELECT 1; END",
        "ALTER TABLE alt_ids RENAME TO held; CREATE VIEW alt_ids AS"
        " WITH RECURSIVE endless(number, id) AS"
        " (SELECT 0, '' UNION ALL SELECT number + 1, id FROM endless) SELECT * FROM endless",
    ],
    ids=["trigger", "view"],
)
def test_a_schema_that_is_not_ours_is_refused(store, statement):
    with sqlite3.connect(store.path) as connection:
        connection.executescript(statement)
    connection.close()
    with pytest.raises(ConnormError, match="CN402.*schema"):
        ConceptStore(store.path).number("unknown")


def test_a_query_that_takes_too_long_ends(store, monkeypatch):
    monkeypatch.setattr("spacy_connorm.index.database._INSTRUCTIONS", 5)
    monkeypatch.setattr("spacy_connorm.index.database._MAX_CHECKS", 3)
    fresh = ConceptStore(store.path)
    with pytest.raises(ConnormError, match="CN402.*interrupted"):
        fresh.of_branches(["A"])


def test_a_page_that_is_damaged_is_told_whenever_it_is_read(store):
    content = store.path.read_bytes()
    store.path.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
    with pytest.raises(ConnormError, match="CN402"):
        fresh = ConceptStore(store.path)
        fresh.labels([0, 1])
        fresh.concept(1)


@pytest.mark.parametrize(
    ("concept_id", "asked"),
    [
        ("NCBITaxon:9606", "NCBITAXON:9606"),
        ("Orphanet:558", "ORPHANET:558"),
        ("SCTID:22298006", "SNOMEDCT:22298006"),
        ("MSH:D003920", "D003920"),
        ("MIM:222100", "OMIM:222100"),
        ("UMLS_CUI:C0011849", "C0011849"),
    ],
)
def test_ids_of_corpora_find_those_of_the_ontology(tmp_path, concept_id, asked):
    concepts = [Concept("A:1", "other"), Concept(concept_id, "name")]
    with StoreWriter(tmp_path / "s") as writer:
        for concept in concepts:
            writer.add(concept)
        assert writer.place(asked, "name") == 1
        writer.number()
        writer.close()
    write_texts(tmp_path, [])
    store = ConceptStore(tmp_path / "s")
    assert store.number(asked) == store.number(concept_id) == 1
    assert store.concept(1).alt_ids == ()


def test_an_id_leads_another_spelling(tmp_path):
    concepts = [
        Concept("MIM:1", "one"),
        Concept("OMIM:1", "two"),
        Concept("X", "x", alt_ids=("NCI:C1",)),
    ]
    write_store(tmp_path / "s", concepts, ["one", "two", "x"])
    store = ConceptStore(tmp_path / "s")
    assert store.concept(store.number("OMIM:1")).canonical_name == "two"
    assert store.concept(store.number("NCIT:C1")).canonical_name == "x"
