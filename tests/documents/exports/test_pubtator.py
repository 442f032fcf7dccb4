import pytest
import spacy
from bioc import pubtator

from spacy_connorm.documents.corpora import CorpusReport, read_corpus
from spacy_connorm.documents.exports import export_docs
from spacy_connorm.documents.mentions import Mention, annotated_mentions, set_mentions
from spacy_connorm.documents.metadata import DOC_ID_KEY
from spacy_connorm.errors import ConnormWarning

from .conftest import FOUND, TEXT

ONE_LINE = TEXT.translate(str.maketrans("\r\n\t", "   "))


@pytest.fixture
def path(export):
    with pytest.warns(ConnormWarning, match="CNW770.*1 times"):
        return export("found.pubtator")


def test_our_reader_reads_it_back(path, documents):
    with pytest.warns(ConnormWarning, match="CNW201.*: 1"):
        docs = list(read_corpus(path, nlp=spacy.blank("xx")))
    assert [doc.text for doc in docs] == [
        ONE_LINE.replace("(CKD). ", "(CKD).\n"),
        "Nothing here.",
    ]
    found = [
        (each.text, each.label, each.kb_id, each.extent) for each in annotated_mentions(docs[0])
    ]
    assert found == [
        # The reader writes MeSH ids without a prefix.
        (each.text, each.label, ids(each), (each.start, each.end))
        for each in documents[0].mentions
    ]


def ids(mention):
    return "" if mention.is_nil else mention.kb_id.replace("MESH:", "")


def test_gaps_are_closed(tmp_path):
    doc = spacy.blank("xx")("White and red blood cells")
    set_mentions(doc, [Mention("White blood cells", "CELL", "CL:1", ((0, 5), (14, 25)))])
    path = tmp_path / "a.pubtator"
    export_docs([doc], path)
    report = CorpusReport()
    (read,) = read_corpus(path, nlp=spacy.blank("xx"), report=report)
    assert list(annotated_mentions(read)) == [Mention(doc.text, "CELL", "CL:1", ((0, 25),))]
    assert not report.mismatched


def test_documents_have_ids_of_their_own(tmp_path):
    docs = [spacy.blank("xx")(f"White cell {number}") for number in range(4)]
    for doc, doc_id in zip(docs, ("d", "d-2", "d", "d"), strict=True):
        set_mentions(doc, [Mention("cell", "CELL", "CL:1", ((6, 10),))])
        doc.user_data[DOC_ID_KEY] = doc_id
    path = tmp_path / "a.pubtator"
    with pytest.warns(ConnormWarning, match="CNW770.*`ID-2`.*: 2 times"):
        export_docs(docs, path)
    with path.open(encoding="utf8") as file:
        read = pubtator.load(file)
    assert [each.pmid for each in read] == ["d", "d-2", "d-3", "d-4"]
    assert [each.title for each in read] == [doc.text for doc in docs]
    assert all(each.annotations[0].pmid == each.pmid for each in read)


def test_another_reader_reads_it_back(path, documents):
    with path.open(encoding="utf8") as file:
        first, other = pubtator.load(file)
    assert first.pmid == "note_7_a" and other.pmid == "2"
    assert first.text == ONE_LINE.replace("(CKD). ", "(CKD).\n")
    for annotation, mention in zip(first.annotations, documents[0].mentions, strict=True):
        assert (annotation.start, annotation.end) == (mention.start, mention.end)
        assert first.text[annotation.start : annotation.end] == annotation.text == mention.text
        label, kb_id, _ = FOUND[annotation.text]
        assert (annotation.type, annotation.id) == (label, "-1" if kb_id == "NIL" else kb_id)
