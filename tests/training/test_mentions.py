"""What a training takes from annotated documents, and what it warns of."""

import warnings

import pytest
import spacy

from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.errors import ConnormWarning
from spacy_connorm.training.config import TrainingData
from spacy_connorm.training.mentions import read_mentions, warn_of_shared_files


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
