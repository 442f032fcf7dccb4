import shutil

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline import check


@pytest.fixture
def index(demo_index, tmp_path):
    """A pipeline that may be damaged."""
    return shutil.copytree(demo_index, tmp_path / "index")


def test_a_sound_pipeline(demo_index, capsys):
    folder = demo_index / "concept_normalizer"
    assert {folder, folder / "index"} <= set(check(str(demo_index)))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("damage", ["changed", "missing"])
@pytest.mark.parametrize("name", ["index/concepts.sqlite", "encoder", "cfg"])
def test_damage_is_named(index, name, damage):
    path = index / "concept_normalizer" / name
    content = path.read_bytes()
    path.unlink()
    if damage == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ConnormError, match=f"CN402.*{path.name}"):
        check(index)


def test_what_opening_passes_over_is_found(index, monkeypatch):
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
    with pytest.raises(ConnormError, match="CN402"):
        check(index)


def test_bad_input(tmp_path):
    with pytest.raises(ConnormError, match="CN700"):
        check("nowhere")
    with pytest.raises(ConnormError, match="CN436"):
        check(tmp_path)
