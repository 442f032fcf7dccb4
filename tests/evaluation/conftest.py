import pytest
import spacy

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.index.search import SEARCHES

from .pipelines_fixtures import dev_mentions, folder, here, write_corpus  # noqa: F401

CONCEPTS = [
    Concept("C1", "heart attack", ("myocardial infarction", "cardiac infarction")),
    Concept("C2", "stroke", ("CVA", "brain attack")),
    Concept("C3", "costovertebral angle", ("CVA",)),
    Concept("C4", "influenza", ("flu", "grippe", "influenza infection")),
    Concept("C5", "unrelated", ()),
]
SYNONYMS = [("Heart Attack", "C1"), ("coronary attack", "C1"), ("the flu", "C4"), ("CVA", "C3")]


def build(searches):
    """A lookup over `CONCEPTS`, its index built for these searches."""
    nlp = spacy.blank("en")
    settings = {
        "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
        "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
        "sieve": {
            "@misc": "spacy-connorm.Sieve.v1",
            "searches": searches,
            "thresholds": [0.6] * (len(searches) - 1),
        },
    }
    normalizer = nlp.add_pipe("concept_normalizer", config=settings)
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(CONCEPTS), synonyms=SYNONYMS)
    return normalizer.lookup


@pytest.fixture
def lookup():
    """Its index holds no means."""
    return build(["D-T", "OD-T"])


@pytest.fixture
def built():
    """Its index was built for all searches."""
    return build(list(SEARCHES))
