"""`connorm train`: from an ontology and a corpus to a folder that everybody loads."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

torch = pytest.importorskip("torch")

from spacy_connorm.encoders.transformer import TransformerEncoder  # noqa: E402

CONFIG = """
[encoder]
@architectures = "spacy-connorm.TransformerEncoder.v1"
name = {encoder}
max_length = 16

[data]
@misc = "spacy-connorm.TrainingData.v1"
ontology = {ontology}
corpora = {corpora}
dev = {dev}

[training]
@misc = "spacy-connorm.Training.v1"

[training.batcher]
@batchers = "spacy-connorm.PairBatcher.v1"
size = 16

[training.objective]
@losses = "spacy-connorm.BatchHardTriplet.v1"

[training.arguments]
num_train_epochs = 2
learning_rate = 1e-3
logging_steps = 1
report_to = []
"""
ONTOLOGY = """
{"concept_id": "C1", "canonical_name": "heart attack", "aliases": ["attack of the heart"]}
{"concept_id": "C2", "canonical_name": "headache", "aliases": ["acute headache", "the headache"]}
{"concept_id": "C3", "canonical_name": "skin cancer", "aliases": ["cancer of the skin"]}
{"concept_id": "C4", "canonical_name": "the cancer", "aliases": []}
"""
MENTIONS = (("the heart attack", "C1"), ("of the skin cancer", "C3"), ("heart", "C9"))


@pytest.fixture
def files(tmp_path, tiny_folder):
    """Paths of everything that a config names."""
    ontology = tmp_path / "ontology.jsonl"
    ontology.write_text(ONTOLOGY.strip(), encoding="utf8")
    nlp = spacy.blank("en")
    docs = []
    for text, concept_id in MENTIONS:
        doc = nlp(text)
        doc.ents = [doc.char_span(0, len(text), label="Disease", kb_id=concept_id)]
        docs.append(doc)
    corpus = tmp_path / "corpus.spacy"
    DocBin(docs=docs).to_disk(corpus)
    return {"encoder": tiny_folder, "ontology": ontology, "corpus": corpus}


@pytest.fixture
def make_config(tmp_path, files):
    """A function that writes a config, with or without D and dev data."""

    def make(*, corpora=True, dev=True, text=CONFIG, **changed):
        quoted = {key: f'"{path}"' for key, path in {**files, **changed}.items()}
        path = tmp_path / "training.cfg"
        path.write_text(
            text.format(
                encoder=quoted["encoder"],
                ontology=quoted["ontology"],
                corpora=f"[{quoted['corpus']}]" if corpora else "[]",
                dev=f"[{quoted['corpus']}]" if dev else "[]",
            )
        )
        return path

    return make


def vectors(folder):
    encoder = TransformerEncoder(name=str(folder), max_length=16)
    encoder.initialize()
    return encoder.predict(["heart attack"])


def test_it_writes_an_encoder_that_everybody_loads(invoke, words, tmp_path, make_config, files):
    out = tmp_path / "out"
    result = invoke("train", make_config(), out)
    assert result.exit_code == 0, result.output
    assert "Dev after epoch 2.0: lenient@1" in words(result)
    assert not (tmp_path / "out.checkpoints").exists()
    assert not np.array_equal(vectors(out), vectors(files["encoder"]))

    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(out)("heart attack", return_tensors="pt")
    with torch.no_grad():
        tokens = AutoModel.from_pretrained(out).eval()(**inputs).last_hidden_state
    np.testing.assert_array_equal(tokens.mean(dim=1).numpy(), vectors(out))


def test_sentence_transformers_gives_the_same_vectors(invoke, tmp_path, make_config):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    out = tmp_path / "out"
    assert invoke("train", make_config(), out).exit_code == 0
    loaded = sentence_transformers.SentenceTransformer(str(out), device="cpu")
    np.testing.assert_array_equal(loaded.encode(["heart attack"]), vectors(out))


def test_the_card_tells_how_it_was_made(invoke, tmp_path, make_config, files):
    out = tmp_path / "out"
    assert invoke("train", make_config(), out, "--training.seed", "7").exit_code == 0
    card = (out / "README.md").read_text(encoding="utf8")
    assert card.startswith("---\n")
    for told in ("seed = 7", '"learning_rate": 0.001', "ontology.jsonl (SHA-256", "lenient@1"):
        assert told in card
    assert f'base_model: "{files["encoder"]}"' in card
    again = tmp_path / "again"
    assert invoke("train", out / "training.cfg", again).exit_code == 0
    np.testing.assert_array_equal(vectors(again), vectors(out))


def test_an_ontology_alone_is_enough(invoke, words, tmp_path, make_config):
    out = tmp_path / "out"
    result = invoke("train", make_config(corpora=False, dev=False), out)
    assert result.exit_code == 0, result.output
    assert "Epoch 2: loss" in words(result)
    assert "the last epoch was kept" in (out / "README.md").read_text(encoding="utf8")


def test_fine_tuning_is_the_same_command(invoke, tmp_path, make_config):
    first, second = tmp_path / "first", tmp_path / "second"
    assert invoke("train", make_config(), first).exit_code == 0
    options = ("--encoder.name", first, "--data.use_ontology", "false")
    result = invoke("train", make_config(), second, *options)
    assert result.exit_code == 0, result.output
    assert not np.array_equal(vectors(first), vectors(second))


def test_a_dan_is_trained_by_the_same_command(invoke, tmp_path, make_config):
    from spacy_connorm.encoders.dan import DanEncoder

    text = CONFIG.replace("TransformerEncoder", "DanEncoder").replace(
        "max_length = 16", "buckets = 64"
    )
    out = tmp_path / "out"
    result = invoke("train", make_config(text=text), out)
    assert result.exit_code == 0, result.output
    encoder = DanEncoder(name=str(out))
    encoder.initialize()
    assert encoder.predict(["heart attack"]).shape == (1, 16)


def test_a_learned_weight_is_kept_and_dev_is_searched_with_it(
    invoke, words, tmp_path, make_config, files, monkeypatch
):
    from thinc.api import Config

    from spacy_connorm.training import dev_score as dev

    text = CONFIG.replace("PairBatcher.v1", "CandidateBatcher.v1").replace(
        "BatchHardTriplet.v1", "Bcnh.v1"
    )
    files["ontology"].write_text(
        ONTOLOGY.strip().replace('of the heart"]', 'of the heart"], "parents": ["C2"]')
    )
    searched = []
    resolve = dev.registry.resolve
    monkeypatch.setattr(
        dev.registry, "resolve", lambda block: (searched.append(block), resolve(block))[1]
    )
    out = tmp_path / "out"
    result = invoke("train", make_config(text=text), out)
    assert result.exit_code == 0, result.output
    learned = json.loads((out / "learned.json").read_text())["lexical_weight"]
    weights = [each["encoder"]["lexical_weight"] for each in searched if "dense" in each["encoder"]]
    assert len(set(weights)) == len(weights) == 2 and learned in weights and learned != 1.0
    card = (out / "README.md").read_text(encoding="utf8")
    assert "Learned beside them: `lexical_weight`" in card
    block = card.split("```ini\n")[1].split("```")[0]
    encoder = Config().from_str(block)["components"]["concept_normalizer"]["encoder"]
    assert encoder["lexical_weight"] == learned
    assert encoder["dense"]["name"] == str(out)
    hybrid = resolve({"encoder": encoder})["encoder"]
    hybrid.initialize(X=["heart attack", "headache"])
    assert not (tmp_path / "out.checkpoints").exists()


def test_an_interrupted_run_is_continued_or_removed(
    invoke, refused, tmp_path, make_config, monkeypatch
):
    from spacy_connorm.cli import progress

    config = make_config()
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert invoke("train", config, whole).exit_code == 0

    def interrupt(self, args, state, control, **kwargs):
        raise KeyboardInterrupt

    refused(invoke("train", config, out, "--resume"), "CN822")
    with monkeypatch.context() as patch:
        patch.setattr(progress.ShowProgress, "on_save", interrupt, raising=False)
        assert invoke("train", config, out).exit_code != 0
    assert not out.exists()
    refused(invoke("train", config, out), "CN714")
    refused(invoke("train", config, out, "--resume", "--training.seed", "1"), "CN715")
    result = invoke("train", config, out, "--resume")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(vectors(out), vectors(whole))


def test_processes_share_the_work(tmp_path, make_config):
    out = tmp_path / "out"
    command = (
        *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"),
        *("--standalone", "-m", "spacy", "connorm", "train"),
        *(str(make_config()), str(out)),
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "USE_LIBUV": "0"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout.count("Wrote the encoder") == 1
    assert "2 process(es)" in (out / "README.md").read_text(encoding="utf8")
    assert np.isfinite(vectors(out)).all()


def test_bad_input_is_refused_before_any_work(invoke, refused, tmp_path, make_config, files):
    out = tmp_path / "out"
    config = make_config()
    refused(invoke("train", tmp_path / "none.cfg", out), "CN100")
    refused(invoke("train", config, out, "--training.micro_batch_tokens", "many"), "CN711")
    refused(invoke("train", config, out, "--training.micro_batch_tokens", "0"), "CN823")
    refused(invoke("train", config, out, "--training.metric", "luck"), "CN823")
    refused(invoke("train", config, out, "--training.arguments.epochs", "3"), "CN821")
    refused(invoke("train", config, out, "--data.ontology", tmp_path / "none.jsonl"), "CN100")
    refused(invoke("train", config, out, "--data.dev", f'["{tmp_path}"]'), "CN105")
    refused(invoke("train", config, out, "--gpu-id", "99"), "CN713")
    refused(invoke("train", config, tmp_path), "CN705")
    sections = tmp_path / "sections.cfg"
    sections.write_text("[encoder]\nname = 1\n")
    refused(invoke("train", sections, out), "CN711")
    files["ontology"].write_text('{"concept_id": "C1", "canonical_name": "heart", "aliases": []}')
    refused(invoke("train", make_config(corpora=False, dev=False), out), "CN810")
    assert not out.exists()


def test_dev_ids_of_another_ontology_are_told(invoke, tmp_path, make_config, files):
    other = ONTOLOGY.replace('"C', '"X')
    files["ontology"].write_text(other.strip(), encoding="utf8")
    result = invoke("train", make_config(corpora=False), tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "[CNW600]" in result.output and "X1" in result.output


def test_the_present_folder_can_be_written(invoke, tmp_path, make_config, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    config = make_config(dev=False)
    monkeypatch.chdir(out)
    result = invoke("train", config, ".")
    assert result.exit_code == 0, result.output
    assert np.isfinite(vectors(out)).all()


def test_an_encoder_without_weights_is_refused(invoke, refused, tmp_path, make_config):
    text = CONFIG.replace("TransformerEncoder", "NgramEncoder").replace("max_length = 16", "")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("name ="))
    refused(invoke("train", make_config(text=text), tmp_path / "out"), "CN311")
