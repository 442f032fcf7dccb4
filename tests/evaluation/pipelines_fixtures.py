"""Pipelines over a small ontology, and corpora to score and to calibrate them on."""

import pytest
import spacy
from finding import NGRAMS
from nil_settings import nil_below
from spacy.tokens import DocBin

from spacy_connorm.concepts import Concept, Ontology

CONCEPTS = [
    Concept("C1", "heart attack", ("myocardial infarction",), alt_ids=("OLD1",)),
    Concept("C2", "stroke", ("CVA",)),
    Concept("C3", "costovertebral angle", ("CVA",)),
    Concept("C4", "influenza", ("flu",)),
]
SETTINGS = {
    **NGRAMS,
    "labels": ["Disease", "Site"],
    **nil_below(0.3),
}
GOLD = [
    ("heart attack", "Disease", "OLD1"),  # an alternate id
    ("CVA", "Site", "C3"),  # a tie that C2 leads
    ("flu", "Disease", "C4|C2"),  # a composite
    ("shock", "Disease", "C9"),  # an id that the index lacks
    ("gout", "Disease", ""),  # NIL
    ("aspirin", "Drug", "C4"),  # not for this normalizer
]
# Names with a number that no concept has: some are of no concept, some of another one.
DEV = [
    *((f"heart attack {number}", "Disease", "C1") for number in range(15)),
    *((f"influenza type {number}", "Disease", "C4") for number in range(15)),
    *((f"stroke of luck {number}", "Disease", "") for number in range(10)),
    *((f"angle {number} of an artery", "Site", "C2") for number in range(10)),
]
COMPOSITES = [
    ("Stroke and influenza", "Disease", "C2|C4"),
    ("HEART  attack", "Disease", "C1|OMIM:1"),
]


@pytest.fixture(scope="session")
def dev_mentions():
    """Texts, labels and gold ids of `dev.spacy`."""
    return DEV


@pytest.fixture(scope="session")
def write_corpus():
    """A function that writes mentions, each as a document."""
    nlp = spacy.blank("en")

    def write(path, mentions):
        docs = []
        for text, label, kb_id in mentions:
            doc = nlp.make_doc(text)
            doc.ents = [doc.char_span(0, len(text), label=label, kb_id=kb_id)]
            docs.append(doc)
        DocBin(docs=docs, store_user_data=True).to_disk(path)

    return write


def save_pipeline(path, **settings):
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config={**SETTINGS, **settings})
    synonyms = [("Heart Attack", "C1")]
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(CONCEPTS), synonyms=synonyms)
    nlp.to_disk(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, write_corpus):
    """Pipelines, corpora, and files that are neither."""
    path = tmp_path_factory.mktemp("evaluate")
    other = {**SETTINGS["encoder"], "ngram_range": [1, 2]}
    save_pipeline(path / "pipeline")
    save_pipeline(path / "other", encoder=other, calibration=None)
    save_pipeline(path / "sites", encoder=other, labels=["Site"])
    write_corpus(path / "gold.spacy", GOLD)
    write_corpus(path / "dev.spacy", DEV)
    write_corpus(path / "composite.spacy", COMPOSITES)
    write_corpus(path / "without.spacy", [("flu", "Disease", ""), ("flu", "Drug", "C4")])
    write_corpus(path / "foreign.spacy", [("flu", "Disease", "MESH:C4")])
    (path / "text.spacy").write_text("flu")
    return path


@pytest.fixture
def here(folder, monkeypatch):
    """The same folder, and names that are relative to it."""
    monkeypatch.chdir(folder)
    return folder
