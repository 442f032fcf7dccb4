import errno
import os
import stat
import subprocess
import sys

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import Correction, CorrectionsFile
from spacy_connorm.workflows.corrections import Undo, to_line

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
    CorrectionsFile(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_record_is_on_the_disk_before_it_is_acknowledged(path, monkeypatch):
    file, synced = CorrectionsFile(path), []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(path.read_bytes()))
    append(file, Undo("x"))
    assert synced == [path.read_bytes()] and synced[0].endswith(b"}\n")


def test_processes_lose_nothing(path):
    started = [
        subprocess.Popen([sys.executable, "-c", MANY, str(path), name]) for name in ("Ann", "Bob")
    ]
    assert [process.wait() for process in started] == [0, 0]
    authors = [record.author for record in CorrectionsFile(path).read()]
    for name in ("Ann", "Bob"):
        assert [each for each in authors if name in each] == [f"{name} {n}" for n in range(20)]


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
    with pytest.raises(ConnormError, match=r"CN752.*line 3"):
        CorrectionsFile(path).read()


def test_a_file_that_became_shorter_is_told(path):
    file = CorrectionsFile(path)
    append(file, Undo("x"))
    path.write_text("")
    assert file.has_more()
    with pytest.raises(ConnormError, match="CN752"):
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
    assert [each.undoes for each in CorrectionsFile(path).read()] == ["x", "z"]


def test_a_writer_that_does_not_end_is_told(path, monkeypatch):
    monkeypatch.setattr("spacy_connorm.workflows.corrections_file._SECONDS_TO_WAIT", 0.05)
    one, other = CorrectionsFile(path), CorrectionsFile(path)
    with (
        one.locked(),
        pytest.raises(ConnormError, match="CN109"),
        other.locked(),
    ):
        pass


def test_folders_are_no_files(tmp_path):
    with pytest.raises(ConnormError, match="CN105"):
        CorrectionsFile(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConnormError, match="CN108"):
        CorrectionsFile(tmp_path / "file" / "corrections.jsonl")
