import os
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.files import checksums
from spacy_connorm.files.checksums import check_sample, check_whole, describe, stamp

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
