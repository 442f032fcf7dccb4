import errno
import json
import os
import stat
import subprocess
import sys

import pytest
import spacy
from correcting import NOTE, OTHER_NOTE

from spacy_connorm import build_index
from spacy_connorm.documents.docbin import read_docs
from spacy_connorm.documents.mentions import annotated_mentions, annotated_synonyms
from spacy_connorm.errors import ConnormError
from spacy_connorm.linker.synonym_changes import read_synonyms
from spacy_connorm.workflows import (
    CorrectedPipeline,
    Correction,
    CorrectionConflict,
    CorrectionsFile,
    convert_corrections,
)
from spacy_connorm.workflows.corrections import Undo, effective, from_line, to_line

TEXT = "Had MI, then MI."


def test_lines_are_read_as_they_were_written():
    for record in (
        Correction(TEXT, 4, 6, "C1|C2", "Disease", "long", True, (0, 6), "Ann"),
        Correction(TEXT, 4, 6, "NIL"),
        Undo("abc", "Bob"),
    ):
        assert from_line(to_line(record)) == record


def test_ids_and_times_are_made():
    first, second = Correction(TEXT, 4, 6, "C1"), Correction(TEXT, 4, 6, "C1")
    assert first.id != second.id
    assert first.time.endswith("+00:00")


def test_fields_of_later_versions_are_ignored():
    line = json.dumps({**json.loads(to_line(Undo("abc"))), "reason": "new"})
    assert from_line(line).undoes == "abc"


@pytest.mark.parametrize(
    "changes",
    [
        {"start": 5, "end": 5},
        {"end": 99},
        {"text": None},
        {"start": "0"},
        {"label": 3},
        {"marked": "yes"},
        {"replaces": 3},
        {"replaces": ["a", "b"]},
    ],
)
def test_anything_else_is_refused(changes):
    line = json.dumps({**json.loads(to_line(Correction(TEXT, 4, 6, "C1"))), **changes})
    with pytest.raises((ValueError, TypeError)):
        from_line(line)
    for other in ("", "[]", '{"undoes": 3}', '{"text": "a"}', "7"):
        with pytest.raises(ValueError):
            from_line(other)


def test_a_defined_short_form_makes_synonyms_of_its_long_form_alone():
    correction = Correction(TEXT, 4, 6, "C1|C2", long_form="heart attack")
    assert correction.mention == "MI"
    assert correction.synonyms == [("heart attack", "C1"), ("heart attack", "C2")]
    assert Correction(TEXT, 4, 6, "C1").synonyms == [("MI", "C1")]
    assert Correction(TEXT, 4, 6, "NIL").synonyms == []


def test_the_last_correction_of_a_mention_counts_unless_it_is_undone():
    first, second = Correction(TEXT, 4, 6, "C1"), Correction(TEXT, 4, 6, "C2")
    other, undo = Correction(TEXT, 13, 15, "C3"), Undo(second.id)
    assert effective([first, other]) == [first, other]
    assert effective([first, other, second]) == [other, second]
    assert effective([first, other, second, undo]) == [first, other]
    assert effective([first, second, undo, Undo(first.id)]) == []


MANY = """
import sys
from spacy_connorm.workflows import Correction, CorrectionsFile
file = CorrectionsFile(sys.argv[1])
for number in range(20):
    with file.locked():
        file.read()
        file.append(Correction("cold", 0, 4, "C3", author=f"{sys.argv[2]} {number}"))
"""


def append(file, *records):
    with file.locked():
        read = file.read()
        for record in records:
            file.append(record)
    return read


def test_what_is_appended_is_read_by_others(path):
    one, other = CorrectionsFile(path), CorrectionsFile(path)
    first, second = Correction("a cold", 2, 6, "C3"), Undo("x")
    assert not other.has_more()
    assert append(one, first) == []
    assert other.has_more() and not one.has_more()
    assert append(other, second) == [first]
    assert one.read() == [second] and one.read() == []
    assert CorrectionsFile(path).read() == [first, second]
    assert path.read_text(encoding="utf8") == f"{to_line(first)}\n{to_line(second)}\n"


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_others_can_not_read_the_texts(path):
    append(CorrectionsFile(path), Undo("x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_record_is_on_the_disk_before_it_is_acknowledged(path, monkeypatch):
    file, synced = CorrectionsFile(path), []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(path.read_bytes()))
    append(file, Undo("x"))
    # The folder has the new file, and the file its line.
    assert synced == [b"", path.read_bytes()] and synced[1].endswith(b"}\n")


def test_there_is_no_file_before_there_is_something_to_write(path):
    file = CorrectionsFile(path)
    assert file.read() == [] and not file.has_more()
    assert not list(path.parent.iterdir())
    path.parent.chmod(0o500)
    if os.geteuid() != 0:  # root may write everywhere
        with pytest.raises(ConnormError, match="CN108"):
            file.require_writable()
    path.parent.chmod(0o700)


def test_a_file_that_may_only_be_read_is_converted(pipeline, path, monkeypatch):
    append(CorrectionsFile(path), Correction(TEXT, 4, 6, "C1"))
    opened = os.open

    def refuse_to_write(name, flags, *rest, **options):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(name, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refuse_to_write)
    assert convert_corrections(path).corrections == 1
    # A server tells it at its start.
    with pytest.raises(ConnormError, match="CN108"):
        CorrectedPipeline(pipeline, path)


def test_processes_lose_nothing(path, without_torch):
    started = [
        subprocess.Popen([sys.executable, "-c", MANY, str(path), name], env=without_torch)
        for name in ("Ann", "Bob")
    ]
    assert [process.wait() for process in started] == [0, 0]
    authors = [record.author for record in CorrectionsFile(path).read()]
    for name in ("Ann", "Bob"):
        assert [author for author in authors if name in author] == [
            f"{name} {n}" for n in range(20)
        ]


def test_what_a_killed_writer_left_is_cut_off(path):
    first, second = Undo("x"), Undo("y")
    file = CorrectionsFile(path)
    append(file, first)
    with path.open("a") as end:
        end.write(to_line(second)[:20])
    other = CorrectionsFile(path)
    assert other.read() == [first]
    append(other, second)
    assert CorrectionsFile(path).read() == [first, second]


def test_a_last_line_without_its_end_counts_if_it_is_complete(path):
    first, second = Undo("x"), Undo("y")
    path.write_text(to_line(first), encoding="utf8")
    file = CorrectionsFile(path)
    assert append(file, second) == [first]
    assert not file.has_more()
    assert CorrectionsFile(path).read() == [first, second]


def test_a_damaged_line_is_told(path):
    path.write_text(f"{to_line(Undo('x'))}\n\nheart\n", encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN115.*line 3"):
        CorrectionsFile(path).read()


def test_a_file_that_became_shorter_is_told(path):
    file = CorrectionsFile(path)
    append(file, Undo("x"))
    path.write_text("")
    assert file.has_more()
    with pytest.raises(ConnormError, match="CN115"):
        file.read()


def test_a_full_disk_leaves_what_was_there(path, monkeypatch):
    file = CorrectionsFile(path)
    append(file, Undo("x"))
    before, write = path.read_bytes(), os.write

    def write_half(descriptor, content):
        if len(content) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content[: len(content) // 2])

    monkeypatch.setattr(os, "write", write_half)
    with pytest.raises(ConnormError, match="CN108"):
        append(file, Undo("y"))
    assert path.read_bytes() == before
    monkeypatch.undo()
    append(file, Undo("z"))
    assert [record.undoes for record in CorrectionsFile(path).read()] == ["x", "z"]


def test_a_writer_that_does_not_end_is_told(path, monkeypatch):
    monkeypatch.setattr("spacy_connorm.workflows.corrections._SECONDS_TO_WAIT", 0.05)
    one, other = CorrectionsFile(path), CorrectionsFile(path)
    with (
        one.locked(),
        pytest.raises(ConnormError, match="CN109"),
        other.locked(),
    ):
        pass


def test_folders_are_not_files(tmp_path):
    with pytest.raises(ConnormError, match="CN105"):
        CorrectionsFile(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConnormError, match="CN108"):
        CorrectionsFile(tmp_path / "file" / "corrections.jsonl")


@pytest.fixture
def said(corrected, correct, path):
    """A file of corrections, two of which give "cold" different concepts, one undone."""
    correct(corrected, NOTE, "cold", "C4", author="Ann")
    correct(corrected, OTHER_NOTE, "cold", "NIL", author="Bob")
    correct(corrected, NOTE, "head spinning", "C5|C1")
    correct(corrected, OTHER_NOTE, "head spinning", "C5|C1")
    undone = correct(corrected, OTHER_NOTE, "aspirin", "C1")
    corrected.undo(undone.id)
    return path


def test_a_table_of_synonyms(said, tmp_path):
    convert_corrections(said, tmp_path / "d.tsv")
    # The last correction of "cold" says that there is no concept.
    assert set(read_synonyms(tmp_path / "d.tsv")) == {
        ("head spinning", "C5", 2),
        ("head spinning", "C1", 2),
    }


def test_the_table_has_the_last_concept_of_a_text(corrected, correct, path, tmp_path):
    for text, kb_id in (("A cold.", "C4"), ("Cold now.", "NIL"), ("No  cold.", "C3")):
        correct(corrected, text, text.strip(".").split()[text[0] in "AN"], kb_id)
    correct(corrected, "No more cold.", "cold", "C3")
    undone = correct(corrected, "My cold.", "cold", "C1")
    corrected.undo(undone.id)
    convert_corrections(path, tmp_path / "d.tsv")
    assert list(read_synonyms(tmp_path / "d.tsv")) == [("cold", "C3", 2)]
    convert_corrections(path, tmp_path / "stop.txt")
    assert (tmp_path / "stop.txt").read_text(encoding="utf8") == ""


def test_annotated_documents(said, tmp_path):
    convert_corrections(said, tmp_path / "d.spacy")
    docs = list(read_docs(tmp_path / "d.spacy", spacy.blank("en").vocab))
    assert [doc.text for doc in docs] == [NOTE, OTHER_NOTE]
    assert [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs] == [
        [("head spinning", "C5|C1"), ("cold", "C4")],
        [("head spinning", "C5|C1"), ("cold", "NIL")],
    ]
    assert [mention.concept_ids for mention in annotated_mentions(docs[1])] == [("C5", "C1"), ()]
    assert ("cold", "C4") in list(annotated_synonyms(docs))


def test_a_stop_list_has_what_has_no_concept_in_the_end(said, corrected, correct, tmp_path):
    correct(corrected, NOTE, "a cold", "NIL")
    correct(corrected, OTHER_NOTE, "aspirin", "NIL")
    convert_corrections(said, tmp_path / "stop.txt")
    # An earlier correction says that "cold" is a concept.
    stop_texts = ["a cold", "aspirin", "cold"]
    assert (tmp_path / "stop.txt").read_text(encoding="utf8").splitlines() == stop_texts


def test_a_defined_short_form_stands_for_its_long_form_alone(resolving, correct, path, tmp_path):
    correct(resolving, "A mitral insufficiency (MI) was found.", "MI", "C1")
    correct(resolving, "A motor impairment (MI) was found.", "MI", "NIL")
    assert convert_corrections(path, tmp_path / "d.tsv").conflicts == ()
    assert list(read_synonyms(tmp_path / "d.tsv")) == [("mitral insufficiency", "C1", 1)]
    convert_corrections(path, tmp_path / "stop.txt")
    assert (tmp_path / "stop.txt").read_text(encoding="utf8") == "motor impairment\n"


def test_both_become_part_of_an_index(said, tmp_path, ontology, ngrams):
    ontology.to_disk(tmp_path / "o.jsonl")
    overrides = {ngrams[0].removeprefix("--"): ngrams[1]}
    convert_corrections(said, tmp_path / "d.tsv")
    convert_corrections(said, tmp_path / "d.spacy")
    # The documents keep what people said first of "cold", too.
    for sources, members in (
        ({"synonyms": tmp_path / "d.tsv"}, 2),
        ({"corpora": [tmp_path / "d.spacy"]}, 3),
    ):
        built = build_index(
            tmp_path / "o.jsonl", tmp_path / "index", overrides=overrides, **sources
        )
        assert built.manifest["counts"]["data_members"] == members


def test_conflicts_are_reported(said):
    report = convert_corrections(said)
    assert report.conflicts == (CorrectionConflict("cold", ("C4", "NIL"), ("Ann", "Bob")),)
    counts = report.records, report.corrections, report.without_concept, report.texts
    assert counts == (6, 4, 1, 2)


def test_bad_input(said, tmp_path):
    for arguments, code in (
        ((tmp_path / "missing",), "CN100"),
        ((said, tmp_path / "d.csv"), "CN708"),
        ((said, said), "CN121"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_corrections(*arguments)
    assert not (tmp_path / "missing").exists()
    with pytest.raises(ConnormError, match="CN213"):
        convert_corrections(said, tmp_path / "d.spacy", lang="qq")
