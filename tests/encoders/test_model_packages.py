import shutil

import pytest

from spacy_connorm.encoders.model_packages import MINILM, PACKAGES, find_in_packages
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.text import sha256


@pytest.fixture
def package(tiny_folder, tmp_path, monkeypatch):
    """The folder of a package that is installed in the place of all-MiniLM-L6-v2."""
    folder = tmp_path / "tiny_package" / "model"
    shutil.copytree(tiny_folder, folder)
    (folder / "README.md").write_text("A model.", encoding="utf8")
    (folder.parent / "__init__.py").touch()
    checksums = {path.name: sha256(path) for path in folder.glob("*") if path.suffix != ".md"}
    tiny = PACKAGES[MINILM]._replace(module="tiny_package", sha256=checksums)
    monkeypatch.setitem(PACKAGES, MINILM, tiny)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_package_as_it_was_published(package):
    assert find_in_packages(MINILM) == package


@pytest.mark.parametrize(
    "name",
    ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"],
)
def test_every_file_of_a_package_must_be_the_published_one(package, name):
    path = package / name
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ConnormError, match=rf"CN304.*{name}"):
        find_in_packages(MINILM)
    path.unlink()
    with pytest.raises(ConnormError, match=rf"CN304.*{name}"):
        find_in_packages(MINILM)


@pytest.mark.parametrize("name", ["adapter_config.json", "pytorch_model.bin", "modeling.py"])
def test_a_package_must_have_no_other_file(package, name):
    (package / name).write_text("{}", encoding="utf8")
    with pytest.raises(ConnormError, match=rf"CN304.*{name}"):
        find_in_packages(MINILM)


def test_what_is_in_no_package():
    assert find_in_packages("owner/model") is None
