"""The words of tokens, which are cached."""

import numpy as np
import spacy

from spacy_connorm.finder import token_words
from spacy_connorm.finder.token_words import TokenWords

from .name_pipeline import build


def read(reader, *docs):
    return reader.read(docs, derivations=False).hashes.tolist()


def test_documents_of_several_vocabularies_are_read_together():
    docs = [spacy.blank("en")("an edema"), spacy.blank("en")("some zebrafish")]
    apart = [value for doc in docs for value in read(TokenWords(), doc)]
    together = TokenWords()
    assert read(together, *docs) == apart
    assert read(together, *docs[::-1]) == [*apart[3:], *apart[:3]]
    assert np.unique(apart).size == 4


def test_another_thread_may_empty_the_cache_meanwhile(monkeypatch):
    nlp, reader = spacy.blank("en"), TokenWords()
    doc, other = nlp("edema of the heart"), nlp("gout")
    expected = read(TokenWords(), doc)
    monkeypatch.setattr(token_words, "_MOST_TOKENS", 0)
    read_token, between = token_words._read_token, [other]

    def interrupted(text):
        found = read_token(text)
        if text == "heart" and between:
            read(reader, between.pop())
        return found

    monkeypatch.setattr(token_words, "_read_token", interrupted)
    assert read(reader, doc) == expected
    assert not between


def test_the_words_of_a_long_form_stand_for_others():
    nlp = build(("Kidney cyst", "Gastro-esophageal reflux"))
    nlp.add_pipe("abbreviation_resolver", first=True)
    doc = nlp("Renal cysts (RC), gastroesophageal reflux (GER). RC or GER")
    assert [each.kb_id_ for each in doc.ents[-2:]] == ["Kidney cyst", "Gastro-esophageal reflux"]
    assert [each.text for each in doc.ents[-2:]] == ["RC", "GER"]
    nlp.get_pipe("mention_finder").cfg["derivations"] = False
    assert not nlp("Gastroesophageal reflux (GER). GER").ents
