"""A training corpus whose mentions are marked and whose ids are not."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.marked_corpus import create_marked_reader, mark_mentions


@pytest.fixture
def corpus(tmp_path):
    nlp = spacy.blank("xx")
    doc = nlp("A cold and a heart attack.")
    doc.ents = [Span(doc, 1, 2, "Disease", kb_id="C3"), Span(doc, 4, 6, "Disease", kb_id="C2")]
    doc.spans["sc"] = [Span(doc, 5, 6, "Disease", kb_id="C9")]
    DocBin(docs=[doc, nlp("Nothing.")], store_user_data=True).to_disk(tmp_path / "corpus.spacy")
    return tmp_path / "corpus.spacy"


def test_mentions_are_known_and_ids_are_not(corpus):
    first, second = create_marked_reader(corpus)(spacy.blank("xx"))
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in first.predicted.ents] == [
        ("cold", "Disease", ""),
        ("heart attack", "Disease", ""),
    ]
    assert [(span.text, span.kb_id_) for span in first.predicted.spans["sc"]] == [("attack", "")]
    assert [ent.kb_id_ for ent in first.reference.ents] == ["C3", "C2"]
    assert not second.predicted.ents


def test_a_pipeline_links_them(corpus, make_pipeline):
    nlp = make_pipeline()
    scores = nlp.evaluate(list(create_marked_reader(corpus)(nlp)))
    assert scores["concept_acc"] == 1.0


def test_two_mentions_in_one_token(tmp_path):
    nlp = spacy.blank("xx")
    doc = Doc(nlp.vocab, words=["BRCA1", "/", "2"], spaces=[False, False, False])
    doc.ents = [Span(doc, 0, 1, "Gene", kb_id="G1"), Span(doc, 2, 3, "Gene", kb_id="G2")]
    whole = Doc(nlp.vocab, words=["BRCA1/2"], spaces=[False])
    example = Example(whole, doc)
    mark_mentions(example)
    assert [ent.text for ent in example.predicted.ents] == ["BRCA1/2"]


def test_a_corpus_that_is_not_there(tmp_path):
    with pytest.raises(ConnormError, match="CN100.*nowhere"):
        list(create_marked_reader(tmp_path / "nowhere.spacy")(spacy.blank("xx")))
