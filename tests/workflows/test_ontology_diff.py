import pytest

from spacy_connorm import Concept, ConnormError, Ontology, diff_ontologies
from spacy_connorm.linker.synonym_changes import read_synonyms
from spacy_connorm.ontology import KINDS
from spacy_connorm.workflows import Correction, CorrectionsFile
from spacy_connorm.workflows.corrections import Undo, effective

OLD = Ontology([Concept("A", "a"), Concept("B", "b"), Concept("C", "c", alt_ids=("C0",))])
NEW = Ontology([Concept("B", "b", alt_ids=("A",)), Concept("D", "d", alt_ids=("C0",))])


def test_a_table_gets_the_new_ids_where_there_are_some(tmp_path):
    path, moved = tmp_path / "own.tsv", tmp_path / "moved.tsv"
    path.write_text("one\tA\t2\none\tB\ntwo\tB\t0\nthree\tC0\nfour\tC\nfive\tX\n")
    found = diff_ontologies(OLD, NEW, synonyms=path, moved=moved).synonyms
    assert (found.kept, found.moved) == (2, 2)
    assert [tuple(synonym) for synonym in found.left] == [
        ("four", "C", "retired", ()),
        ("five", "X", "unknown", ()),
    ]
    written = [("one", "B", 3), ("two", "B", 0), ("three", "D", 1)]
    assert [tuple(synonym) for synonym in read_synonyms(moved)] == written


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
    assert [tuple(synonym)[:3] for synonym in found.left] == [("two", "C", "retired")]
    again = CorrectionsFile(moved).read()
    assert [record.id for record in again] == [record.id for record in records]
    assert [mention.kb_id for mention in effective(again)] == ["B", "C", "NIL"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("own.tsv", "no tab\n", "CN115"),
        ("own.jsonl", "{}\n", "CN115"),
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


OLD_OBO = """format-version: 1.2

[Term]
id: T:0
name: finding

[Term]
id: T:1
name: head pain
synonym: "headache" EXACT []
synonym: "cephalgia" EXACT []
is_a: T:0

[Term]
id: T:2
name: sick headache
synonym: "migraine" EXACT []
is_a: T:1

[Term]
id: T:3
name: face ache
is_a: T:1

[Term]
id: T:4
name: two things
is_a: T:0

[Term]
id: T:5
name: old idea
is_a: T:0

[Term]
id: T:6
name: gone
alt_id: T:60
is_a: T:0
"""
NEW_OBO = """format-version: 1.2

[Term]
id: T:0
name: finding

[Term]
id: T:1
name: headache
synonym: "head pain" EXACT []
synonym: "head ache" EXACT []
alt_id: T:2
is_a: T:0

[Term]
id: T:7
name: facial pain
synonym: "face ache" EXACT []
is_a: T:0

[Term]
id: T:8
name: migraine
is_a: T:1

[Term]
id: T:3
name: face ache
is_obsolete: true
replaced_by: T:30

[Term]
id: T:30
name: face ache, again
is_obsolete: true
replaced_by: T:7

[Term]
id: T:4
name: two things
is_obsolete: true
replaced_by: T:7
replaced_by: T:8

[Term]
id: T:5
name: old idea
is_obsolete: true
consider: T:0
"""


@pytest.fixture
def releases(tmp_path):
    (tmp_path / "old.obo").write_text(OLD_OBO)
    (tmp_path / "new.obo").write_text(NEW_OBO)
    return tmp_path / "old.obo", tmp_path / "new.obo"


def of_kind(diff, kind):
    return [tuple(change)[1:] for change in diff.changes if change.kind == kind]


def test_every_kind_of_change_is_told(releases):
    diff = diff_ontologies(*releases)
    assert diff.concepts == (7, 4)
    assert of_kind(diff, "added") == [("T:8", "migraine", (), (), "")]
    assert of_kind(diff, "retired") == [
        ("T:2", "sick headache", (), ("T:1",), "alternate id"),
        ("T:3", "face ache", (), ("T:7",), "replaced_by"),
        ("T:4", "two things", (), ("T:7", "T:8"), "several replacements"),
        ("T:5", "old idea", (), ("T:0",), "consider"),
        ("T:6", "gone", (), (), "retired"),
    ]
    assert of_kind(diff, "renamed") == [("T:1", "headache", ("head pain",), ("headache",), "")]
    assert of_kind(diff, "other owner") == [("", "migraine", ("T:2",), ("T:8",), "")]
    assert of_kind(diff, "name added") == [
        ("T:1", "headache", (), ("head ache",), ""),
        ("T:7", "facial pain", (), ("facial pain",), ""),
    ]
    assert of_kind(diff, "name lost") == [
        ("T:1", "headache", ("cephalgia",), (), ""),
        ("T:1", "headache", ("sick headache",), (), ""),
        ("T:1", "headache", ("migraine",), (), ""),
    ]
    assert list(diff.counts) == list(KINDS)
    assert diff.counts["moved"] == 0


def test_a_release_differs_in_nothing_from_itself(releases):
    assert diff_ontologies(releases[0], releases[0]).changes == ()


def test_all_changes_are_written(releases, tmp_path):
    tsv_path = tmp_path / "diff.tsv"
    (tmp_path / "own.tsv").write_text("an\u00e9 idea\tT:5\n")
    diff = diff_ontologies(*releases, synonyms=tmp_path / "own.tsv", tsv_path=tsv_path)
    header, *rows = [line.split("\t") for line in tsv_path.read_text("utf8").splitlines()]
    assert len(rows) == len(diff.changes) + 1
    assert header == ["kind", "concept_id", "name", "before", "after", "reason"]
    assert ["retired", "T:4", "two things", "", "T:7|T:8", "several replacements"] in rows
    assert rows[-1] == ["synonym left", "T:5", "an\u00e9 idea", "", "T:0", "consider"]


def test_outputs_that_would_replace_inputs_and_lonely_options_are_refused(releases):
    old, new = releases
    with pytest.raises(ConnormError, match="CN121"):
        diff_ontologies(old, new, tsv_path=new)
    same, own = old.with_name("changes"), old.with_name("own.tsv")
    own.write_text("an idea\tT:5\n")
    with pytest.raises(ConnormError, match="CN124.*changes"):
        diff_ontologies(old, new, synonyms=own, tsv_path=same, moved=str(same))
    assert not same.exists()
    with pytest.raises(ConnormError, match="CN733.*--synonyms"):
        diff_ontologies(old, new, moved=old.with_name("moved.tsv"))
    with pytest.raises(ConnormError, match="CN100"):
        diff_ontologies(old, old.with_name("nothing.obo"))
