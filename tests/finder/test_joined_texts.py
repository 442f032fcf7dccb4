"""The tokens of several documents by their places in one text."""

import numpy as np
import spacy

from spacy_connorm.finder.joined_texts import JoinedTexts


def test_tokens_are_found_by_characters_and_by_document():
    docs = [spacy.blank("en")(text) for text in ("A cough. ", "", "no  cough")]
    texts = JoinedTexts(docs)
    assert texts.text == "A cough. \0\0no  cough\0"
    assert texts.offsets == [0, 4, 5, 9]
    assert [texts.token_before(place) for place in (1, 2, 7, 8, 9, 10, 14)] == [
        0,
        None,
        1,
        2,
        None,
        None,
        None,
    ]
    tokens = [text for doc in docs for text in (*map(str, doc), "")]
    assert [texts.part(place, place + 1) for place in range(len(texts.starts))] == tokens
    assert [texts.distinct[number] for number in texts.which] == tokens
    assert texts.part(0, 3) == "A cough."
    assert [numbers.tolist() for numbers in texts.by_document(np.array([7, 0, 5]))] == [
        [1],
        [],
        [2, 0],
    ]
