"""The texts of all tokens of a document."""

import spacy
from spacy.attrs import LOWER, ORTH

from spacy_connorm.documents.token_texts import texts_of


def test_they_are_those_of_the_tokens():
    doc = spacy.blank("en")("Retinal  DYSTROPHY, not glaucoma.")
    assert texts_of(doc, ORTH) == [token.text for token in doc]
    assert texts_of(doc, LOWER) == [token.lower_ for token in doc]
    assert texts_of(doc[:0].as_doc(), ORTH) == []
