"""`train`: from an ontology and a corpus to a folder that everybody loads."""

import json
from pathlib import Path

import numpy as np
import pytest
import spacy
from thinc.api import Config

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.configs import read_config
from spacy_connorm.training import TrainingObserver, train

pytest.importorskip("torch")

# The corpus names a concept that the ontology lacks; `test_pool` expects the warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*CNW810")

ALONE = {"data.corpora": [], "data.dev": []}


class Log(TrainingObserver):
    def __init__(self):
        self.lines = []

    def on_pool(self, report):
        self.lines.append(("pool", report.concepts))

    def on_epoch(self, epoch, loss):
        self.lines.append(("epoch", epoch))

    def on_dev_score(self, epoch, scores):
        assert "epoch" not in scores
        self.lines.append(("dev", epoch, next(iter(scores))))


@pytest.fixture
def config(training_config, training_settings):
    return read_config(training_config, training_settings)


@pytest.fixture(scope="module")
def trained(training_config, training_settings, tmp_path_factory):
    """A result, and what was seen of the training."""
    out, log = tmp_path_factory.mktemp("trained") / "out", Log()
    overrides = {**training_settings, "training.seed": 7}
    return train(training_config, out, overrides=overrides, observer=log), log


def vectors(folder):
    encoder = TransformerEncoder(name=str(folder), max_length=16)
    encoder.initialize()
    return encoder.predict(["heart attack"])


def test_an_encoder_is_written_that_everybody_loads(trained, training_settings):
    out = trained[0].path
    assert not out.with_name("out.checkpoints").exists()
    assert not np.array_equal(vectors(out), vectors(training_settings["encoder.name"]))

    import torch
    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(out)("heart attack", return_tensors="pt")
    with torch.no_grad():
        tokens = AutoModel.from_pretrained(out).eval()(**inputs).last_hidden_state
    np.testing.assert_array_equal(tokens.mean(dim=1).numpy(), vectors(out))


def test_sentence_transformers_gives_the_same_vectors(trained):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    loaded = sentence_transformers.SentenceTransformer(str(trained[0].path), device="cpu")
    np.testing.assert_array_equal(loaded.encode(["heart attack"]), vectors(trained[0].path))


def test_counts_and_scores_are_returned_and_observed(trained):
    result, log = trained
    assert (result.pool_report.concepts, result.pool_report.unknown_ids) == (5, 1)
    assert 0 <= result.trained.best["eval_lenient@1"] <= 100
    assert [row["step"] for row in result.trained.history if "loss" in row] == [1, 2, 3, 4]
    assert log.lines == [
        ("pool", 5),
        ("epoch", 1.0),
        ("dev", 1.0, "lenient@1"),
        ("epoch", 2.0),
        ("dev", 2.0, "lenient@1"),
    ]


def test_each_epoch_is_observed_also_a_short_one(config, tmp_path):
    log = Log()
    rare = {**ALONE, "training.arguments.logging_steps": 100}
    train(config, tmp_path / "out", overrides=rare, observer=log)
    assert [line for line in log.lines if line[0] == "epoch"] == [("epoch", 1.0), ("epoch", 2.0)]


def test_the_card_tells_how_it_was_made(trained, training_settings, tmp_path):
    out = trained[0].path
    card = (out / "README.md").read_text(encoding="utf8")
    assert card.startswith("---\n")
    for told in ("seed = 7", '"learning_rate": 0.001', "ontology.jsonl (SHA-256", "lenient@1"):
        assert told in card
    assert f'base_model: "{training_settings["encoder.name"]}"' in card
    again = train(out / "training.cfg", tmp_path / "again").path
    np.testing.assert_array_equal(vectors(again), vectors(out))


def test_an_ontology_alone_is_enough_and_nothing_is_printed(config, tmp_path, capsys):
    result = train(config, str(tmp_path / "out"), overrides=ALONE)
    assert result.trained.best is None
    assert "the last epoch was kept" in (result.path / "README.md").read_text(encoding="utf8")
    assert capsys.readouterr() == ("", "")


def test_a_trained_encoder_is_fine_tuned(trained, config, tmp_path):
    first = trained[0].path
    overrides = {"encoder.name": str(first), "data.use_ontology": False}
    second = train(config, tmp_path / "second", overrides=overrides).path
    assert not np.array_equal(vectors(first), vectors(second))


def test_a_dan_is_trained(config, tmp_path):
    block = {**config["encoder"], "@architectures": "spacy-connorm.DanEncoder.v1", "buckets": 64}
    del block["max_length"]
    out = train(Config({**config, "encoder": block}), tmp_path / "out").path
    encoder = DanEncoder(name=str(out))
    encoder.initialize()
    assert encoder.predict(["heart attack"]).shape == (1, 16)


def test_a_learned_weight_is_kept_and_dev_is_searched_with_it(config, tmp_path, monkeypatch):
    from spacy_connorm.training import dev_score as dev

    ontology = tmp_path / "ontology.jsonl"
    text = Path(config["data"]["ontology"]).read_text(encoding="utf8")
    ontology.write_text(text.replace('heart"]', 'heart"], "parents": ["C2"]'), encoding="utf8")
    config["data"]["ontology"] = str(ontology)
    config["training"]["batcher"]["@batchers"] = "spacy-connorm.CandidateBatcher.v1"
    config["training"]["objective"]["@losses"] = "spacy-connorm.Bcnh.v1"
    searched = []
    resolve = dev.registry.resolve
    monkeypatch.setattr(
        dev.registry, "resolve", lambda block: (searched.append(block), resolve(block))[1]
    )
    out = tmp_path / "out"
    result = train(config, out)
    written = json.loads((out / "learned.json").read_text())
    learned = written["lexical_weight"]
    assert result.trained.learned == {"lexical_weight": learned}
    weights = [
        row["encoder"]["lexical_weight"] for row in searched if "dense" in row.get("encoder", {})
    ]
    assert len(set(weights)) == len(weights) == 2 and learned in weights and learned != 1.0
    card = (out / "README.md").read_text(encoding="utf8")
    assert "Learned beside them: `lexical_weight`" in card
    block = card.split("```ini\n")[1].split("```")[0]
    encoder = Config().from_str(block)["components"]["concept_normalizer"]["encoder"]
    assert encoder["lexical_weight"] == learned
    # What was ranked with, searched on dev and is told to search with is the same.
    lexical = written["lexical"]
    assert lexical == encoder["lexical"]
    assert [row["encoder"]["lexical"] for row in searched if "dense" in row.get("encoder", {})] == [
        lexical,
        lexical,
    ]
    assert encoder["dense"]["name"] == str(out)
    hybrid = resolve({"encoder": encoder})["encoder"]
    hybrid.initialize(X=["heart attack", "headache"])


def test_the_card_of_inner_products_makes_a_pipeline(config, tmp_path):
    config["training"]["batcher"]["@batchers"] = "spacy-connorm.CandidateBatcher.v1"
    config["training"]["batcher"]["hypernyms"] = 0
    objective = {"@losses": "spacy-connorm.BioSyn.v1", "similarity": "inner_product"}
    config["training"]["objective"] = {**objective, "norm_weight": 0.0}
    out = train(config, tmp_path / "out").path
    block = (out / "README.md").read_text(encoding="utf8").split("```ini\n")[1].split("```")[0]
    settings = Config().from_str(block)["components"]["concept_normalizer"]
    assert settings["index"]["metric"] == "dot"
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config=settings)
    normalizer.initialize(
        lambda: [], nlp=nlp, ontology=Ontology([Concept("C1", "gout"), Concept("C2", "flu")])
    )
    assert normalizer.candidates(["gout"])[0][0].concept_id == "C1"


def test_an_interrupted_training_is_continued_or_removed(config, tmp_path):
    class Interrupt(TrainingObserver):
        def on_dev_score(self, epoch, scores):
            if epoch == 2:
                raise KeyboardInterrupt

    whole, out = train(config, tmp_path / "whole").path, tmp_path / "out"
    with pytest.raises(ConnormError, match="CN822"):
        train(config, out, resume=True)
    with pytest.raises(KeyboardInterrupt):
        train(config, out, observer=Interrupt())
    assert not out.exists()
    with pytest.raises(ConnormError, match="CN714"):
        train(config, out)
    with pytest.raises(ConnormError, match="CN828"):
        train(config, out, overrides={"training.seed": 1}, resume=True)
    train(config, out, resume=True)
    np.testing.assert_array_equal(vectors(out), vectors(whole))


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        ({"training.micro_batch_tokens": "many"}, "CN711"),
        ({"training.micro_batch_tokens": 0}, "CN006"),
        ({"training.metric": "luck"}, "CN118"),
        ({"training.arguments.epochs": 3}, "CN711"),
        ({"data.ontology": "none.jsonl"}, "CN100"),
        ({"data.dev": ["."]}, "CN105"),
        ({"nothing.like": "this"}, "CN711"),
    ],
)
def test_a_bad_setting_leaves_nothing(config, tmp_path, overrides, code):
    out = tmp_path / "out"
    with pytest.raises(ConnormError, match=code):
        train(config, out, overrides=overrides)
    assert not out.exists()


@pytest.mark.parametrize(
    ("batcher", "objective"),
    [
        ("GroundingBatcher", "ConceptualGrounding"),
        ("CandidateBatcher", "Bcnh"),
    ],
)
def test_a_share_that_no_epoch_would_draw_is_refused(config, tmp_path, batcher, objective):
    blocks = {
        "batcher": {"@batchers": f"spacy-connorm.{batcher}.v1"},
        "objective": {"@losses": f"spacy-connorm.{objective}.v1"},
    }
    data = {**config["data"], "data_share": 1.0}
    other = Config({**config, "data": data, "training": {**config["training"], **blocks}})
    with pytest.raises(ConnormError, match=f"CN839.*data_share.*{batcher}"):
        train(other, tmp_path / "out")
    assert not (tmp_path / "out.checkpoints").exists()


def test_bad_input_is_refused_before_any_work(config, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with pytest.raises(ConnormError, match="CN100"):
        train(tmp_path / "none.cfg", out)
    with pytest.raises(ConnormError, match="CN713"):
        train(config, out, gpu_id=99)
    with pytest.raises(ConnormError, match=r"CN711.*\[training\]"):
        train(Config({"encoder": {"name": "x"}, "data": {"dev": []}}), out)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ConnormError, match="CN705"):
        train(config, tmp_path)
    with pytest.raises(ConnormError, match="CN100.*none.jsonl"):
        train(config, out, overrides={"data.ontology": "none.jsonl"})
    poor = tmp_path / "poor.jsonl"
    poor.write_text('{"concept_id": "C1", "canonical_name": "heart", "aliases": []}')
    with pytest.raises(ConnormError, match="CN810"):
        train(config, out, overrides={**ALONE, "data.ontology": str(poor)})
    ngrams = Config({**config, "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"}})
    with pytest.raises(ConnormError, match="CN311"):
        train(ngrams, out)
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match="CN126"):
        train(config, out)
    assert not list(tmp_path.glob("out*"))  # nor a folder for checkpoints


def test_dev_ids_of_another_ontology_are_told(config, tmp_path):
    other = tmp_path / "other.jsonl"
    text = Path(config["data"]["ontology"]).read_text(encoding="utf8")
    other.write_text(text.replace('"C', '"X'), encoding="utf8")
    overrides = {"data.corpora": [], "data.ontology": str(other)}
    with pytest.warns(ConnormWarning, match=r"CNW600.*X1"):
        train(config, tmp_path / "out", overrides=overrides)


def test_the_present_folder_can_be_written(config, tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.chdir(out)
    train(config, ".", overrides=ALONE)
    assert np.isfinite(vectors(out)).all()
