"""The blocks of a training config: what is refused, what is taken from annotated documents, and
what they warn of."""

import warnings

import pytest
import spacy
from spacy import registry

pytest.importorskip("pytorch_metric_learning")

from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.config import (
    Training,
    TrainingData,
    read_mentions,
    warn_of_shared_files,
)
from spacy_connorm.training.objectives import SupervisedContrastive

PAIRS = {"@batchers": "spacy-connorm.PairBatcher.v1"}
CONTRASTIVE = {"@losses": "spacy-connorm.SupervisedContrastive.v1"}


def make(**settings):
    given = {"batcher": PairBatcher(size=6), "objective": SupervisedContrastive(), "arguments": {}}
    return Training(**given, **settings)


@pytest.mark.parametrize(
    "blocks",
    [
        {"batcher": CONTRASTIVE, "objective": CONTRASTIVE},
        {"batcher": PAIRS, "objective": PAIRS},
        {"batcher": PAIRS, "objective": {"@losses": "CategoricalCrossentropy.v1"}},
    ],
)
def test_another_thing_in_place_of_a_batcher_or_an_objective(blocks):
    block = {"@misc": "spacy-connorm.Training.v1", "arguments": {}, **blocks}
    with pytest.raises(ConnormError, match="CN006"):
        registry.resolve({"training": block})


@pytest.mark.parametrize(
    ("batcher", "objective"),
    [("Candidate", "SupervisedContrastive"), ("Pair", "Bcnh"), ("Grounding", "Bcnh")],
)
def test_a_batcher_and_an_objective_that_do_not_match(batcher, objective):
    block = {
        "@misc": "spacy-connorm.Training.v1",
        "batcher": {"@batchers": f"spacy-connorm.{batcher}Batcher.v1"},
        "objective": {"@losses": f"spacy-connorm.{objective}.v1"},
        "arguments": {},
    }
    with pytest.raises(ConnormError, match="CN830"):
        registry.resolve({"training": block})


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_no_generator_takes(seed):
    with pytest.raises(
        ConnormError, match=r"CN006.*`seed` must be at least 0 and below 4294967296"
    ):
        make(seed=seed)


def test_the_largest_seed():
    assert make(seed=2**32 - 1).seed == 2**32 - 1


@pytest.mark.parametrize(
    ("setting", "example"),
    [("corpora", "train.spacy"), ("dev", "dev.spacy"), ("labels", "Disease")],
)
def test_a_text_in_place_of_a_list_is_refused(setting, example):
    expected = rf'CN006.*`{setting}` must be a list, e.g. \["{example}"\], not \'mine\''
    with pytest.raises(ConnormError, match=expected):
        TrainingData(ontology="ontology.jsonl", **{setting: "mine"})


@pytest.fixture
def corpus(tmp_path):
    """A document with a disease and a drug as entities."""
    doc = spacy.blank("en")("flu after aspirin")
    doc.ents = [
        doc.char_span(0, 3, label="Disease", kb_id="D1"),
        doc.char_span(10, 17, label="Drug", kb_id="D2"),
    ]
    path = tmp_path / "train.spacy"
    write_docs([doc], path)
    return str(path)


def texts(path, **settings):
    data = TrainingData(ontology="o.jsonl", **settings)
    return [mention.text for mention in read_mentions([path], data)]


@pytest.mark.parametrize(
    ("labels", "taken"), [([], ["flu", "aspirin"]), (["Disease"], ["flu"]), (["Drug"], ["aspirin"])]
)
def test_mentions_are_taken_by_label(corpus, labels, taken):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert texts(corpus, labels=labels) == taken


def test_a_label_that_no_mention_has_is_warned_of(corpus, monkeypatch):
    monkeypatch.setenv("SPACY_CONNORM_SHOW_TEXT", "1")
    with pytest.warns(ConnormWarning, match=r"CNW811.*'Disease', 'Drug'.*: DISEASE\."):
        assert texts(corpus, labels=["DISEASE"]) == []


def test_documents_without_mentions_are_warned_of(tmp_path):
    path = tmp_path / "plain.spacy"
    write_docs([spacy.blank("en")("flu after aspirin")], path)
    with pytest.warns(ConnormWarning, match=r"CNW811.*plain.spacy.*Its labels: none"):
        assert texts(str(path)) == []


def test_a_dev_file_that_is_trained_on_is_warned_of(corpus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(ConnormWarning, match=r"CNW812.*'train.spacy'"):
        data = TrainingData(ontology="o.jsonl", corpora=[corpus], dev=["train.spacy"])
        warn_of_shared_files(data)


def test_another_dev_file_is_not_warned_of(corpus):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = TrainingData(ontology="o.jsonl", corpora=[corpus], dev=["dev.spacy"])
        warn_of_shared_files(data)
