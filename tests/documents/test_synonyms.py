import pytest
import spacy

from spacy_connorm.documents.mentions import Mention, set_mentions
from spacy_connorm.documents.synonyms import (
    annotated_synonyms,
    expanded_mentions,
    expanded_synonyms,
)


@pytest.fixture
def doc():
    """A composite mention, an abbreviation that the text defines, and a mention without ids."""
    doc = spacy.blank("en").make_doc("breast or ovarian cancer, myocardial infarct (MI), fatigue")
    set_mentions(
        doc,
        [
            Mention("breast or ovarian cancer", "Disease", "D001943|D010051", ((0, 24),)),
            Mention("MI", "Disease", "D009203", ((46, 48),)),
            Mention("fatigue", "Symptom", "CUI-less", ((51, 58),)),
        ],
    )
    return doc


WRITTEN = [
    ("breast or ovarian cancer", "D001943"),
    ("breast or ovarian cancer", "D010051"),
    ("MI", "D009203"),
]


def test_every_concept_of_a_mention_has_its_text_as_a_synonym(doc):
    assert list(annotated_synonyms([doc])) == WRITTEN
    assert list(annotated_synonyms([doc, doc])) == WRITTEN * 2


def test_a_defined_long_form_is_a_synonym_too(doc):
    assert list(expanded_synonyms([doc])) == [*WRITTEN, ("myocardial infarct", "D009203")]
    texts = [mention.text for mention in expanded_mentions(doc)]
    assert texts == ["breast or ovarian cancer", "MI", "myocardial infarct", "fatigue"]


@pytest.mark.parametrize("read", [annotated_synonyms, expanded_synonyms])
def test_only_mentions_with_the_labels_are_read(doc, read):
    assert list(read([doc], labels=["Symptom"])) == []
    assert list(read([doc], labels=["Disease"])) == list(read([doc]))
