import gc
import os
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.files import checksums
from spacy_connorm.files.checksums import (
    BackgroundCheck,
    check_sample,
    check_whole,
    describe,
    stamp,
)
from spacy_connorm.files.folders import seal, unseal

BLOCKS, BLOCK = 4, 8


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(checksums, "_BLOCKS", BLOCKS)
    monkeypatch.setattr(checksums, "_BLOCK", BLOCK)
    monkeypatch.setattr(checksums, "_LARGE", BLOCKS * BLOCK)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"


def is_found(check, path, facts):
    try:
        check(path, facts)
    except ConnormError as error:
        assert "CN402" in str(error) and str(path) in str(error)
        return True
    return False


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


@pytest.mark.parametrize("size", [0, 1, BLOCK, BLOCKS * BLOCK])
def test_a_small_file_has_no_sample_and_is_checked_whole(file, size):
    content = os.urandom(size)
    file.write_bytes(content)
    facts = describe(file)
    assert set(facts) == {"bytes", "crc32"}
    check_sample(file, facts)
    for at in range(size):
        file.write_bytes(flipped(content, at))
        assert is_found(check_sample, file, facts)


@pytest.mark.parametrize("size", [BLOCKS * BLOCK + 1, 100, 1001])
def test_of_a_large_file_blocks_are_checked(file, size):
    content = os.urandom(size)
    file.write_bytes(content)
    facts = describe(file)
    check_sample(file, facts)
    found = []
    for at in range(size):
        file.write_bytes(flipped(content, at))
        assert is_found(check_whole, file, facts)
        if is_found(check_sample, file, facts):
            found.append(at)
    assert found[:BLOCK] == list(range(BLOCK))
    assert found[-BLOCK:] == list(range(size - BLOCK, size))
    # No gap is wider than the share of the file that the documentation names.
    gaps = [later - earlier for earlier, later in pairwise(found)]
    assert max(gaps) <= size / (BLOCKS - 1)
    assert len(found) == BLOCKS * BLOCK


@given(st.binary(min_size=BLOCKS * BLOCK + 1, max_size=300), st.data())
def test_a_changed_stretch_that_is_long_is_found(tmp_path_factory, content, data):
    file = tmp_path_factory.mktemp("stretch") / "file"
    file.write_bytes(content)
    facts = describe(file)
    length = -(-len(content) // (BLOCKS - 1)) + BLOCK
    start = data.draw(st.integers(0, max(len(content) - length, 0)))
    damaged = bytearray(content)
    for at in range(start, min(start + length, len(content))):
        damaged[at] ^= 0xFF
    file.write_bytes(damaged)
    assert is_found(check_sample, file, facts)


@pytest.mark.parametrize("check", [check_sample, check_whole])
@pytest.mark.parametrize("size", [10, 200])
def test_other_sizes_and_missing_files_are_found(file, size, check):
    content = bytes(size)
    file.write_bytes(content)
    facts = describe(file)
    for other in (b"", content[:-1], content + b"\0"):
        file.write_bytes(other)
        assert is_found(check, file, facts)
    file.unlink()
    assert is_found(check, file, facts)
    file.mkdir()
    assert is_found(check, file, facts)


def test_a_sample_is_read_as_it_was_taken(file, monkeypatch):
    file.write_bytes(os.urandom(500))
    facts = describe(file)
    monkeypatch.setattr(checksums, "_BLOCKS", 7)
    monkeypatch.setattr(checksums, "_BLOCK", 5)
    check_sample(file, facts)


def test_every_flipped_bit_of_a_file_that_is_not_large_is_found(file, monkeypatch):
    monkeypatch.setattr(checksums, "_LARGE", 500)
    content = os.urandom(500)
    file.write_bytes(content)
    facts = describe(file)
    assert "sample" in facts
    for at in range(500):
        file.write_bytes(flipped(content, at))
        assert is_found(check_sample, file, facts)


def test_facts_of_before_there_were_samples(file):
    content = os.urandom(500)
    file.write_bytes(content)
    facts = describe(file)
    del facts["sample"]
    check_sample(file, facts)
    for at in range(0, 500, 7):
        file.write_bytes(flipped(content, at))
        assert is_found(check_sample, file, facts)


def test_all_bytes_are_reported(file):
    file.write_bytes(bytes(1000))
    reported = []
    check_whole(file, describe(file), report=reported.append)
    assert sum(reported) == 1000


def test_a_stamp_tells_a_file_from_its_copy(file, tmp_path):
    file.write_bytes(b"content")
    before = stamp(file)
    assert stamp(file) == before
    copy = tmp_path / "copy"
    copy.write_bytes(b"content")
    os.utime(copy, ns=(before[1], before[1]))
    copy.replace(file)
    assert stamp(file) != before


@pytest.fixture
def smaller_blocks(monkeypatch):
    monkeypatch.setattr(checksums, "_BLOCKS", 4)
    monkeypatch.setattr(checksums, "_BLOCK", 8)
    monkeypatch.setattr(checksums, "_LARGE", 64)
    monkeypatch.setattr(checksums, "_CHUNK", 100)


@pytest.fixture
def sealed(tmp_path, smaller_blocks):
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
    event, read = threading.Event(), checksums._read

    def read_later(*args):
        event.wait()
        return read(*args)

    monkeypatch.setattr(checksums, "_read", read_later)
    monkeypatch.setattr(checksums, "_SECONDS_TO_STOP", 0)
    yield event
    event.set()


def threads():
    return [each for each in threading.enumerate() if each.name == checksums.THREAD]


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

    monkeypatch.setattr(checksums, "_read", fail)
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
