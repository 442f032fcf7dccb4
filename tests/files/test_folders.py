import os
import shutil

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files import checksums
from spacy_connorm.files.atomic import TemporaryFolder
from spacy_connorm.files.folders import (
    pack,
    read_settled,
    seal,
    stamps,
    unpack,
    unseal,
    unseal_again,
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


def test_verifying_finds_what_opening_passes_over(sealed, monkeypatch):
    monkeypatch.setattr(checksums, "_BLOCKS", 2)
    monkeypatch.setattr(checksums, "_BLOCK", 4)
    monkeypatch.setattr(checksums, "_LARGE", 50)
    content = bytes(100)
    (sealed / "large").write_bytes(content)
    seal(sealed, {})
    verify(sealed)
    (sealed / "large").write_bytes(content[:50] + b"x" + content[51:])
    assert unseal(sealed)
    with pytest.raises(ConnormError, match="CN402.*large"):
        verify(sealed)


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


# What one process has unsealed, another one opens


def test_a_folder_that_nobody_touched_is_not_read_again(sealed, monkeypatch):
    seen, manifest = stamps(sealed), unseal(sealed)
    monkeypatch.setattr("spacy_connorm.files.folders.unseal", None)
    unseal_again(sealed, manifest, seen)


def test_a_copy_in_its_place_is_read_and_taken(sealed, tmp_path):
    seen, manifest = stamps(sealed), unseal(sealed)
    shutil.copytree(sealed, tmp_path / "copy")
    shutil.rmtree(sealed)
    (tmp_path / "copy").rename(sealed)
    unseal_again(sealed, manifest, seen)
    (sealed / "one").write_bytes(b"other")
    with pytest.raises(ConnormError, match="CN402.*one"):
        unseal_again(sealed, manifest, seen)


def test_another_folder_in_its_place_is_refused(sealed):
    seen, manifest = stamps(sealed), unseal(sealed)
    (sealed / "one").write_bytes(b"sound, but another")
    seal(sealed, {"facts": 1})
    with pytest.raises(ConnormError, match="CN402.*was replaced"):
        unseal_again(sealed, manifest, seen)
    shutil.rmtree(sealed)
    with pytest.raises(ConnormError, match="CN400"):
        unseal_again(sealed, manifest, seen)


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
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 99'))
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
