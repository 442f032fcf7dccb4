import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files import atomic as exchange
from spacy_connorm.files.atomic import (
    TemporaryFolder,
    atomic_file,
    atomic_folder,
    require_distinct_outputs,
)

POSIX = os.name == "posix"


def write_file(path, content="new"):
    with atomic_file(path) as part:
        part.write_text(content)


def write_folder(path, content="new"):
    with atomic_folder(path) as part:
        (part / "deep").mkdir()
        (part / "deep" / "file").write_text(content)


def read(path):
    return path.read_text() if path.is_file() else (path / "deep" / "file").read_text()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


both = pytest.mark.parametrize("write", [write_file, write_folder])


@both
def test_what_was_there_is_replaced_and_nothing_is_left_beside_it(tmp_path, write):
    for content in ("old", "new"):
        write(tmp_path / "out.x", content)
    assert read(tmp_path / "out.x") == "new"
    assert names(tmp_path) == ["out.x"]


@both
def test_a_writer_that_fails_leaves_what_was_there(tmp_path, write, monkeypatch):
    write(tmp_path / "out", "old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConnormError, match="CN108"):
        write(tmp_path / "out")
    assert read(tmp_path / "out") == "old"
    assert names(tmp_path) == ["out"]


@both
def test_a_second_writer_is_refused(tmp_path, write):
    context = atomic_file if write is write_file else atomic_folder
    with context(tmp_path / "out") as part:
        with pytest.raises(ConnormError, match="CN109.*out"):
            write(tmp_path / "out", "second")
        if part.is_dir():
            (part / "deep").mkdir()
        (part / "deep" / "file" if part.is_dir() else part).write_text("first")
    assert read(tmp_path / "out") == "first"
    write(tmp_path / "out", "third")
    assert read(tmp_path / "out") == "third"


@both
def test_many_writers_write_one_after_the_other_or_are_refused(tmp_path, write):
    refused = []

    def work(content):
        try:
            write(tmp_path / "out", content)
        except ConnormError as error:
            refused.append(error)

    threads = [threading.Thread(target=work, args=(str(number) * 1000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read(tmp_path / "out")
    assert len(found) == 1000 and len(set(found)) == 1
    assert all("CN109" in str(error) for error in refused) and len(refused) < 8
    assert names(tmp_path) == ["out"]


@both
def test_what_killed_writers_left_goes_with_the_next_success(tmp_path, write):
    token = "0123456789abcdef"
    for name in (f".out.part-{token}", f".out.old-{token}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "large").write_text("x" * 100)
    (tmp_path / f".out.part-{token}.txt").write_text("x")
    others = [".out.part-mine", ".outer.part-" + token, "out.old", f".out2.part-{token}"]
    for name in others:
        (tmp_path / name).write_text("not ours")
    write(tmp_path / "out")
    assert set(names(tmp_path)) >= {"out", *others}
    assert not (tmp_path / f".out.part-{token}").exists()
    assert not (tmp_path / f".out.old-{token}").exists()


@pytest.mark.skipif(not POSIX, reason="rights are POSIX's")
@both
def test_parts_are_private_and_the_result_has_the_usual_rights(tmp_path, write):
    context = atomic_file if write is write_file else atomic_folder
    before = os.umask(0o027)
    try:
        with context(tmp_path / "out") as part:
            assert stat.S_IMODE(part.stat().st_mode) == (0o700 if part.is_dir() else 0o600)
            target = part
            if part.is_dir():
                target = part / "file"
                target.touch(mode=0o600)
            target.write_text("x")
    finally:
        os.umask(before)
    out = tmp_path / "out"
    assert stat.S_IMODE(out.stat().st_mode) == (0o750 if out.is_dir() else 0o640)
    if out.is_dir():
        assert stat.S_IMODE((out / "file").stat().st_mode) == 0o640


@pytest.mark.skipif(not POSIX, reason="links need rights elsewhere")
def test_a_planted_link_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".out.part-0123456789abcdef").symlink_to(victim)
    write_file(tmp_path / "out")
    assert victim.read_text() == "mine"
    assert not (tmp_path / ".out.part-0123456789abcdef").is_symlink()


@pytest.mark.skipif(not POSIX, reason="links need rights elsewhere")
@both
def test_a_link_stays_a_link(tmp_path, write):
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "out", "old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "out")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert read(tmp_path / "real" / "out") == "new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux's")
def test_a_device_is_written_to_directly():
    with pytest.raises(ConnormError, match="CN108.*/dev/full.*full"):
        write_file("/dev/full")


def test_where_names_cant_be_swapped_two_renames_do(tmp_path, monkeypatch):
    write_folder(tmp_path / "out", "old")
    monkeypatch.setattr(exchange, "_system_call", lambda: None)
    write_folder(tmp_path / "out")
    assert read(tmp_path / "out") == "new"
    assert names(tmp_path) == ["out"]


@pytest.mark.skipif(not POSIX, reason="Windows can't swap names")
def test_names_are_swapped_in_one_step(tmp_path):
    for name in ("one", "other"):
        write_folder(tmp_path / name, name)
    assert exchange.swap(tmp_path / "one", tmp_path / "other")
    assert (read(tmp_path / "one"), read(tmp_path / "other")) == ("other", "one")
    with pytest.raises(FileNotFoundError):
        exchange.swap(tmp_path / "one", tmp_path / "missing")


def test_a_folder_inside_one_that_is_being_written_needs_no_lock(tmp_path):
    with atomic_folder(tmp_path / "out") as part:
        with atomic_folder(part / "inner") as inner:
            (inner / "file").write_text("x")
        write_file(part / "file")
    assert sorted(names(tmp_path / "out")) == ["file", "inner"]
    assert names(tmp_path / "out" / "inner") == ["file"]


def test_temporary_folders_go_with_their_last_user(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = TemporaryFolder()
    (folder.path / "file").write_text("x")
    assert len(names(tmp_path)) == 2
    del folder
    assert names(tmp_path) == []


@pytest.mark.skipif(not POSIX, reason="forks")
def test_temporary_folders_of_killed_processes_go_and_those_in_use_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = TemporaryFolder()
    pid = os.fork()
    if not pid:
        killed = TemporaryFolder()
        (killed.path / "large").write_text("x")
        os._exit(0)  # as a killed process: nothing is cleaned up
    os.waitpid(pid, 0)
    assert len(names(tmp_path)) > 2
    other = TemporaryFolder()
    kept = {each.path.name for each in (mine, other)}
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == kept


@pytest.mark.parametrize(
    ("error", "told", "message"),
    [
        (RuntimeError("anything"), RuntimeError, "anything"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (OSError(errno.ENOSPC, "No space"), ConnormError, "CN108.*target.*disk is full"),
    ],
)
def test_failure_leaves_the_old_folder(tmp_path, error, told, message):
    write_folder(tmp_path / "target", "old")
    raised = pytest.raises(told, match=message)
    with raised, atomic_folder(tmp_path / "target") as folder:
        (folder / "file").write_text("half")
        raise error
    assert read(tmp_path / "target") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConnormError, match="CN108"):
        write_folder(tmp_path / "file" / "target")


def test_outputs_with_the_same_name_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link.json").symlink_to("a.json")
    for same in ("a.json", tmp_path / "a.json", "./b/../a.json", "link.json"):
        with pytest.raises(ConnormError, match="CN124.*Two outputs"):
            require_distinct_outputs("b.json", None, "a.json", same)


def test_other_outputs_are_not(tmp_path):
    require_distinct_outputs()
    require_distinct_outputs(None, None, tmp_path, tmp_path / "a", "b", os.devnull, os.devnull)
