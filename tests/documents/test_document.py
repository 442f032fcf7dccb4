from pathlib import Path

import pytest
import spacy

from spacy_connorm.documents import CorpusReport, read_document
from spacy_connorm.documents.document import DOC_ID_KEY, set_other_fields
from spacy_connorm.documents.mentions import MENTIONS_KEY, Mention, set_mentions
from spacy_connorm.documents.spans import set_span_attributes
from spacy_connorm.errors import ConnormWarning

from .conftest import BREAST, CKD, FIELDS, FOUND, OVARY, TEXT


def test_overlapping_mentions_keep_all_that_was_found(documents):
    document, *_ = documents
    assert (document.doc_id, document.text, document.fields) == ("note 7|a", TEXT, FIELDS)
    found = {mention.text: mention for mention in document.mentions}
    assert found.keys() == FOUND.keys()
    for text, mention in found.items():
        assert TEXT[slice(*mention.extent)] == text
        assert (mention.label, mention.kb_id, list(mention.candidates)) == FOUND[text]
    assert found["CKD"].long_form == "chronic kidney disease"
    both = found["breast and ovarian cancer"]
    assert both.concept_ids == ("D001943", "MESH:D010051")
    assert both.leading == [BREAST, OVARY]
    assert both.find_candidate("MESH:D010051") == OVARY and both.find_candidate("D2") is None
    nil = found["myste\u0301ry"]
    assert nil.is_nil and nil.concept_ids == ()


@pytest.mark.parametrize(
    ("fields", "doc_id"),
    [
        ({}, "8"),
        ({"id": 0}, "0"),
        ({"id": " a "}, "a"),
        ({"id": ""}, "8"),
        ({"id": True}, "8"),
    ],
)
def test_an_id_is_a_text_or_a_whole_number(fields, doc_id):
    doc = spacy.blank("xx")("Nothing.")
    set_other_fields(doc, fields)
    assert read_document(doc, 8).doc_id == doc_id


def test_ids_come_from_another_field_or_the_corpus():
    doc = spacy.blank("xx")("Nothing.")
    doc.user_data[DOC_ID_KEY] = "PMC1"
    assert read_document(doc, 8).doc_id == "PMC1"
    set_other_fields(doc, {"note_id": 7})
    assert read_document(doc, 8, id_field="note_id").doc_id == "7"


@pytest.fixture
def corpus_doc():
    doc = spacy.blank("xx")("White and red blood cells meet.")
    gap = Mention("White blood cells", "CELL", "CL:1", ((0, 5), (14, 25)))
    set_mentions(doc, [gap])
    doc.spans[MENTIONS_KEY] = [doc.char_span(0, 25, label="CELL")]
    return doc, gap


def test_gold_mentions_are_taken_where_no_normalizer_was(corpus_doc):
    doc, gap = corpus_doc
    assert read_document(doc, 1).mentions == (Mention(*gap),)


def test_normalized_mentions_of_a_corpus_keep_their_gaps(corpus_doc):
    doc, gap = corpus_doc
    set_span_attributes(doc, doc.spans[MENTIONS_KEY], ["D051436"], [[CKD]], prefix="x_")
    (mention,) = read_document(doc, 1, spans_key=MENTIONS_KEY, attribute_prefix="x_").mentions
    assert mention == Mention(gap.text, "CELL", "D051436", gap.fragments, (CKD,))
    # Another component has set its own spans since.
    doc.spans[MENTIONS_KEY] = [doc[0:1], doc[1:2]]
    first, _ = read_document(doc, 1, spans_key=MENTIONS_KEY, attribute_prefix="x_").mentions
    assert first.fragments == ((0, 5),)


GAP = Mention("a c", "X", "D1|D2", ((0, 1), (4, 5)))


def test_mentions_and_documents_are_counted():
    report = CorpusReport()
    for doc_id in ("7", "8", "7"):
        report.count_document(doc_id, passages=2)
    for mention in (GAP, GAP._replace(kb_id="D1+D3"), GAP._replace(kb_id="-1", label="Y")):
        report.count_mention(mention)
    assert (len(report.doc_ids), report.repeated, report.passages) == (2, 1, 6)
    assert (report.mentions, report.without_id) == ({"X": 2, "Y": 1}, {"X": 0, "Y": 1})
    assert report.concept_ids == {"D1", "D2", "D3"}
    assert (report.composite, report.combination, report.discontinuous) == (1, 1, 3)


@pytest.mark.parametrize(
    ("counts", "types", "code"),
    [
        ({"mismatched": ["'a.txt', line 2"]}, (), "CNW200.*line 2"),
        ({"without_mentions": 3}, (), "CNW201.*3"),
        ({"surrogates": 3}, (), "CNW202.*3"),
        ({"repeated": 3}, (), "CNW203.*3"),
        ({}, ("Drug",), "CNW204.*Drug"),
    ],
)
def test_likely_problems_are_warned_of(counts, types, code):
    with pytest.warns(ConnormWarning, match=code):
        CorpusReport(**counts).warn(Path("a.txt"), types=types)
