"""Large files that are in use before every byte of them was checked."""

import gc
import os
import threading

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files import background, checksums
from spacy_connorm.files.background import BackgroundCheck
from spacy_connorm.files.folders import seal, unseal


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(checksums, "_BLOCKS", 4)
    monkeypatch.setattr(checksums, "_BLOCK", 8)
    monkeypatch.setattr(checksums, "_LARGE", 64)
    monkeypatch.setattr(background, "_CHUNK", 100)


@pytest.fixture
def sealed(tmp_path):
    (tmp_path / "large").write_bytes(bytes(1000))
    (tmp_path / "small").write_bytes(bytes(10))
    seal(tmp_path, {})
    return tmp_path


def flip_between_blocks(folder):
    with (folder / "large").open("r+b") as file:
        file.seek(100)
        file.write(b"\1")


@pytest.fixture
def paused(monkeypatch):
    """An event without which no thread reads anything."""
    event, read = threading.Event(), background._read

    def read_later(*args):
        event.wait()
        return read(*args)

    monkeypatch.setattr(background, "_read", read_later)
    monkeypatch.setattr(background, "_SECONDS_TO_STOP", 0)
    yield event
    event.set()


def threads():
    return [each for each in threading.enumerate() if each.name == background.THREAD]


def wait():
    """Wait until all files are read or damage is found."""
    for thread in threads():
        thread.join()


def test_sound_files(sealed):
    check = BackgroundCheck(sealed, unseal(sealed))
    wait()
    check.require_sound()
    assert not threads()


def test_without_large_files_there_is_no_thread(sealed, monkeypatch):
    monkeypatch.setattr(checksums, "_LARGE", 1000)
    check = BackgroundCheck(sealed, unseal(sealed))
    assert check._work.thread is None
    wait()
    check.require_sound()


def test_damage_between_the_blocks_of_the_sample(sealed):
    flip_between_blocks(sealed)
    check = BackgroundCheck(sealed, unseal(sealed))
    wait()
    for _ in range(2):
        with pytest.raises(ConnormError, match="CN402.*large.*checksum"):
            check.require_sound()


def test_nothing_waits_for_the_check(sealed, paused):
    flip_between_blocks(sealed)
    check = BackgroundCheck(sealed, unseal(sealed))
    check.require_sound()
    paused.set()
    wait()
    with pytest.raises(ConnormError, match="CN402"):
        check.require_sound()


def test_the_files_that_are_in_use_are_checked_not_those_that_replace_them(sealed, paused):
    check = BackgroundCheck(sealed, unseal(sealed))
    (sealed / "other").write_bytes(b"\1" * 1000)
    (sealed / "other").replace(sealed / "large")
    paused.set()
    wait()
    check.require_sound()


def test_a_disk_that_fails(sealed, monkeypatch):
    def fail(*args):
        raise OSError("Input/output error")

    monkeypatch.setattr(background, "_read", fail)
    check = BackgroundCheck(sealed, unseal(sealed))
    wait()
    with pytest.raises(ConnormError, match="CN402.*large.*Input/output"):
        check.require_sound()


def test_the_thread_ends_with_what_it_checks(sealed, paused):
    check = BackgroundCheck(sealed, unseal(sealed))
    work = check._work
    del check
    gc.collect()
    assert work.is_stopped
    paused.set()
    work.thread.join()
    assert not work.is_done and all(large.file.closed for large in work.left)


def test_a_forked_process_checks_too(sealed, paused):
    flip_between_blocks(sealed)
    check = BackgroundCheck(sealed, unseal(sealed))
    pid = os.fork()
    if not pid:
        paused.set()
        check.require_sound()
        wait()
        try:
            check.require_sound()
        except ConnormError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
