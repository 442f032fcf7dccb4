import os
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.files import folders
from spacy_connorm.files.atomic import TemporaryFolder
from spacy_connorm.files.folders import (
    check_sample,
    check_whole,
    describe,
    pack,
    read_settled,
    seal,
    stamp,
    unpack,
    unseal,
    verify,
)


@pytest.fixture
def sealed(tmp_path):
    folder = tmp_path / "sealed"
    (folder / "deep").mkdir(parents=True)
    (folder / "one").write_bytes(b"first")
    (folder / "deep" / "two").write_bytes(b"second")
    seal(folder, {"facts": 1})
    return folder


def test_sound_folder_opens(sealed):
    assert unseal(sealed)["facts"] == 1


@pytest.mark.parametrize("name", ["one", "deep/two"])
@pytest.mark.parametrize("damage", ["missing", "truncated", "longer", "flipped"])
def test_damage_is_found_and_named(sealed, name, damage):
    path = sealed / name
    content = path.read_bytes()
    path.unlink()
    damaged = {
        "truncated": content[:-1],
        "longer": content + b"x",
        "flipped": bytes([content[0] ^ 1]) + content[1:],
    }
    if damage in damaged:
        path.write_bytes(damaged[damage])
    with pytest.raises(ConnormError, match=f"CN402.*{path.name}"):
        unseal(sealed)


def test_verifying_reports_every_byte(sealed):
    reported = []
    verify(sealed, report=reported.append)
    assert sum(reported) == len("first" + "second")


@pytest.mark.parametrize("damage", ["no manifest", "changed file", "changed manifest"])
def test_verifying_refuses_what_opening_refuses(sealed, damage):
    if damage == "no manifest":
        (sealed / "manifest.json").unlink()
    else:
        name = "one" if damage == "changed file" else "manifest.json"
        content = (sealed / name).read_bytes()
        (sealed / name).write_bytes(content[:-3] + b"x" + content[-2:])
    with pytest.raises(ConnormError, match="CN40[02]"):
        verify(sealed)


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"format": 1}', "\x00"])
def test_damaged_manifest(sealed, manifest):
    (sealed / "manifest.json").write_text(manifest)
    with pytest.raises(ConnormError, match="CN40[12].*"):
        unseal(sealed)


def test_no_manifest(tmp_path):
    with pytest.raises(ConnormError, match="CN400"):
        unseal(tmp_path)


def test_other_format_version(sealed):
    manifest = sealed / "manifest.json"
    known = f'"format": {folders._VERSION}'
    manifest.write_text(manifest.read_text().replace(known, '"format": 99'))
    with pytest.raises(ConnormError, match="CN401.*99"):
        unseal(sealed)


def test_sealed_folder_within_answers_for_itself(sealed, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    sealed.rename(outer / "inner")
    (outer / "own").write_text("x")
    seal(outer, {})
    assert list(unseal(outer)["files"]) == ["own"]


def test_sealed_again_after_a_change(sealed):
    files = unseal(sealed)["files"]
    (sealed / "one").write_bytes(b"other")
    seal(sealed, {"facts": 2})
    again = unseal(sealed)
    assert again["facts"] == 2
    assert set(again["files"]) == set(files)
    assert again["files"]["one"] != files["one"]


def test_packed_and_unpacked(sealed, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    unpack(pack(sealed), copy)
    assert unseal(copy) == unseal(sealed)


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside"])
def test_nothing_is_unpacked_outside(tmp_path, name):
    (tmp_path / "inside").mkdir()
    with pytest.raises(ValueError, match="outside"):
        unpack({name: b"x"}, tmp_path / "inside")


def test_temporary_folder_goes_with_its_user():
    folder = TemporaryFolder()
    path = folder.path
    assert path.is_dir()
    del folder
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_worker_does_not_take_the_folder_away():
    folder = TemporaryFolder()
    child = os.fork()
    if not child:
        folder._finalizer()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()


def swap(one, other):
    middle = one.with_name("middle")
    one.rename(middle)
    other.rename(one)
    middle.rename(other)


@pytest.fixture
def two(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    return tmp_path / "one", tmp_path / "other"


def test_a_folder_that_is_replaced_while_it_is_read_is_read_again(two):
    contents = []

    def read():
        contents.append((two[0] / "file").read_text())
        if len(contents) == 1:
            swap(*two)
        return contents[-1]

    assert read_settled(two[0], read) == "other"
    assert contents == ["one", "other"]


def test_files_that_go_while_they_are_read_are_read_again(two):
    tries = []

    def read():
        tries.append(1)
        if len(tries) == 1:
            swap(*two)
            raise FileNotFoundError(two[0] / "gone")
        return "read"

    assert read_settled(two[0], read) == "read"


def test_a_file_that_is_missing_is_told(two):
    with pytest.raises(ConnormError, match="CN402.*one.*gone"):
        read_settled(two[0], lambda: (two[0] / "gone").read_text())
    with pytest.raises(ConnormError, match="CN402"):
        read_settled(two[0] / "none", lambda: (two[0] / "none").read_text())


def test_a_folder_that_is_replaced_every_time_is_told(two):
    with pytest.raises(ConnormError, match="CN419.*one"):
        read_settled(two[0], lambda: swap(*two))


BLOCKS, BLOCK = 4, 8


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(folders, "_BLOCKS", BLOCKS)
    monkeypatch.setattr(folders, "_BLOCK", BLOCK)
    monkeypatch.setattr(folders, "_LARGE", BLOCKS * BLOCK)


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
    monkeypatch.setattr(folders, "_BLOCKS", 7)
    monkeypatch.setattr(folders, "_BLOCK", 5)
    check_sample(file, facts)


def test_every_flipped_bit_of_a_file_that_is_not_large_is_found(file, monkeypatch):
    monkeypatch.setattr(folders, "_LARGE", 500)
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


def test_damage_between_the_blocks_of_a_sample_is_found_by_reading_all(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_CHUNK", 100)
    (tmp_path / "large").write_bytes(bytes(1000))
    seal(tmp_path, {})
    with (tmp_path / "large").open("r+b") as file:
        file.seek(100)
        file.write(b"\1")
    unseal(tmp_path)
    with pytest.raises(ConnormError, match="CN402.*large.*checksum"):
        verify(tmp_path)
