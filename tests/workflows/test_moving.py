"""Synonyms and corrections move to the ids of a new release."""

import pytest

from spacy_connorm import Concept, ConnormError, Ontology, diff_ontologies
from spacy_connorm.pipeline.synonym_files import read_synonyms
from spacy_connorm.workflows import Correction, CorrectionsFile
from spacy_connorm.workflows.corrections import Undo, effective

OLD = Ontology([Concept("A", "a"), Concept("B", "b"), Concept("C", "c", alt_ids=("C0",))])
NEW = Ontology([Concept("B", "b", alt_ids=("A",)), Concept("D", "d", alt_ids=("C0",))])


def test_a_table_gets_the_new_ids_where_there_are_some(tmp_path):
    path, moved = tmp_path / "own.tsv", tmp_path / "moved.tsv"
    path.write_text("one\tA\t2\none\tB\ntwo\tB\t0\nthree\tC0\nfour\tC\nfive\tX\n")
    found = diff_ontologies(OLD, NEW, synonyms=path, moved=moved).synonyms
    assert (found.kept, found.moved) == (2, 2)
    assert [tuple(each) for each in found.left] == [
        ("four", "C", "retired", ()),
        ("five", "X", "unknown", ()),
    ]
    written = [("one", "B", 3), ("two", "B", 0), ("three", "D", 1)]
    assert [tuple(each) for each in read_synonyms(moved)] == written


def test_corrections_move_and_those_without_a_concept_wait(tmp_path):
    path, moved = tmp_path / "corrections.jsonl", tmp_path / "moved.jsonl"
    records = [
        Correction("one and two", 0, 3, "A|B"),
        Correction("one and two", 8, 11, "C"),
        Correction("three", 0, 5, "NIL"),
        Correction("four", 0, 4, "A"),
    ]
    records.append(Undo(records[-1].id))
    file = CorrectionsFile(path)
    for each in records:
        file.append(each)
    found = diff_ontologies(OLD, NEW, synonyms=path, moved=moved).synonyms
    assert (found.kept, found.moved) == (1, 1)
    assert [tuple(each)[:3] for each in found.left] == [("two", "C", "retired")]
    again = CorrectionsFile(moved).read()
    assert [each.id for each in again] == [each.id for each in records]
    assert [each.kb_id for each in effective(again)] == ["B", "C", "NIL"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("own.tsv", "no tab\n", "CN712"),
        ("own.jsonl", "{}\n", "CN752"),
    ],
)
def test_files_of_another_kind_are_refused_and_nothing_is_written(tmp_path, name, content, code):
    (tmp_path / name).write_text(content)
    with pytest.raises(ConnormError, match=code):
        diff_ontologies(OLD, NEW, synonyms=tmp_path / name, moved=tmp_path / "moved")
    assert not (tmp_path / "moved").exists()


@pytest.mark.parametrize("name", ["missing.tsv", "missing.jsonl"])
def test_a_missing_file_is_told_and_not_made(tmp_path, name):
    with pytest.raises(ConnormError, match="CN100"):
        diff_ontologies(OLD, NEW, synonyms=tmp_path / name)
    assert not (tmp_path / name).exists()
