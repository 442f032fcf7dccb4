"""The texts of all tokens of documents."""

import numpy as np
import spacy
from spacy.attrs import LOWER, ORTH

from spacy_connorm.documents.token_texts import JoinedTexts, texts_of


def test_they_are_those_of_the_tokens():
    doc = spacy.blank("en")("Retinal  DYSTROPHY, not glaucoma.")
    assert texts_of(doc, ORTH) == [token.text for token in doc]
    assert texts_of(doc, LOWER) == [token.lower_ for token in doc]
    assert texts_of(doc[:0].as_doc(), ORTH) == []


def test_tokens_are_found_by_characters_and_by_document():
    docs = [spacy.blank("en")(text) for text in ("A cough. ", "", "no  cough")]
    texts = JoinedTexts(docs)
    assert texts.text == "A cough. \0\0no  cough\0"
    assert texts.offsets == [0, 4, 5, 9]
    assert [texts.token_before(place) for place in (1, 7, 8)] == [0, 1, 2]
    assert [texts.token_before(place) for place in (2, 9, 10, 14)] == [None] * 4
    tokens = [text for doc in docs for text in (*map(str, doc), "")]
    assert [texts.part(place, place + 1) for place in range(len(texts.starts))] == tokens
    assert [texts.distinct[number] for number in texts.which] == tokens
    assert texts.part(0, 3) == "A cough."
    numbers = texts.by_document(np.array([7, 0, 5]))
    assert [*map(list, numbers)] == [[1], [], [2, 0]]
    last = texts.document(2)
    assert (last.texts, last.are_joined) == (["no", " ", "cough"], [False, True, True])
    assert last.part(1, 3) == " cough"
