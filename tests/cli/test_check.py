import shutil

import pytest


@pytest.fixture
def index(demo_index, tmp_path):
    """A pipeline that may be damaged."""
    return shutil.copytree(demo_index, tmp_path / "index")


def test_a_sound_pipeline(invoke, words, demo_index):
    result = invoke("check", demo_index)
    assert result.exit_code == 0, result.output
    assert "Nothing is missing and nothing has changed" in words(result)


@pytest.mark.parametrize("damage", ["changed", "missing"])
@pytest.mark.parametrize("name", ["index/concepts.sqlite", "encoder", "cfg"])
def test_damage_is_named(invoke, refused, index, name, damage):
    path = index / "concept_normalizer" / name
    content = path.read_bytes()
    path.unlink()
    if damage == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    result = invoke("check", index)
    refused(result, "CN402")
    assert path.name in result.output


def test_what_opening_passes_over_is_found(invoke, refused, index, monkeypatch):
    from spacy_connorm.files import checksums
    from spacy_connorm.files.folders import seal, unseal

    monkeypatch.setattr(checksums, "_BLOCKS", 2)
    monkeypatch.setattr(checksums, "_LARGE", 0)
    monkeypatch.setattr(checksums, "_BLOCK", 16)
    folder = index / "concept_normalizer" / "index"
    manifest = unseal(folder)
    seal(folder, {key: value for key, value in manifest.items() if key != "files"})
    store = folder / "concepts.sqlite"
    content = store.read_bytes()
    middle = len(content) // 2
    store.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    assert unseal(folder)
    refused(invoke("check", index), "CN402")


def test_bad_input(invoke, refused, tmp_path):
    refused(invoke("check", "nowhere"), "CN700")
    refused(invoke("check", tmp_path), "CN436")
