"""Corpora to read, and documents with all that a format may have to hold."""

import pytest
import spacy

from spacy_connorm.concepts import Candidate
from spacy_connorm.documents import CorpusReport, export_docs, read_corpus, read_document
from spacy_connorm.documents.abbreviations import set_abbreviations
from spacy_connorm.documents.document import DOC_ID_KEY, set_other_fields
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.documents.spans import set_span_attributes
from spacy_connorm.text.abbreviations import find_abbreviations

# Letters outside the first plane, combining ones, tabs and both line ends.
TEXT = (
    "Cafe\u0301 😀 & <b>: chronic kidney disease (CKD).\r\n"
    "🫀 breast and ovarian cancer; CKD\tworse.\nA myste\u0301ry, <x>."
)
CKD = Candidate("D051436", "Renal Insufficiency, Chronic", 0.97, "CKD", "O-T", "CKD", 0, None, None)
BREAST = Candidate(
    "D001943", "Breast Neoplasms", 0.9, "breast cancer", "O-T", "breast cancer", 1, 0.8, 0.7, 0.75
)
OVARY = Candidate(
    "MESH:D010051", "Ovarian Neoplasms", 0.95, "ovarian cancer", "D-T", "ovarian cancer", 2
)
OTHER = Candidate("D999", "Other | thing", 0.5, "other", "D-T", "ovarian cancer", 2)
NEAREST = Candidate("D000", 'A "quoted", name', 0.2, "a name", "O-T", "mystéry")

# By text of the mention: label, kb_id and candidates.
FOUND = {
    "chronic kidney disease": ("Disease", "D051436", [CKD]),
    "breast and ovarian cancer": ("Disease", "D001943|MESH:D010051", [BREAST, OVARY, OTHER]),
    "ovarian cancer": ("Disease", "MESH:D010051", [OVARY._replace(part=0), OTHER._replace(part=0)]),
    "CKD": ("Short form", "D051436", [CKD]),
    "myste\u0301ry": ("Finding", "NIL", [NEAREST]),
}
FIELDS = {"id": "note 7|a", "patient": 3, "ward": {"name": "B"}}


def annotate(text, found, fields):
    nlp = spacy.blank("xx")
    doc = nlp(text)
    places = [(text.rindex(mention), mention) for mention in found]
    spans = [
        doc.char_span(start, start + len(mention), label=found[mention][0])
        for start, mention in places
    ]
    doc.spans["sc"] = spans
    kb_ids, candidates = ([found[mention][number] for _, mention in places] for number in (1, 2))
    set_span_attributes(doc, spans, kb_ids, candidates, prefix="")
    set_abbreviations(doc, find_abbreviations(text, "en"))
    set_other_fields(doc, fields)
    return doc


@pytest.fixture
def docs():
    return [annotate(TEXT, FOUND, FIELDS), annotate("Nothing here.", {}, {}), annotate("", {}, {})]


@pytest.fixture
def documents(docs):
    """What the formats are made from."""
    return [read_document(doc, number, spans_key="sc") for number, doc in enumerate(docs, 1)]


@pytest.fixture
def export(docs, tmp_path):
    """A function that writes the documents to a file and gives its path."""

    def write(name, **settings):
        path = tmp_path / name
        assert export_docs(docs, path, spans_key="sc", **settings) == len(docs)
        return path

    return write


@pytest.fixture(scope="session")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def read_folder(nlp):
    """Read a corpus of several files: ids of the documents, mentions of each, report."""

    def read(path, **settings):
        report = CorpusReport()
        docs = list(read_corpus(path, nlp=nlp, report=report, **settings))
        ids = [doc.user_data[DOC_ID_KEY] for doc in docs]
        return ids, [list(annotated_mentions(doc)) for doc in docs], report

    return read


@pytest.fixture
def read(tmp_path, nlp):
    """Read text as a corpus file of the given name: documents, mentions of each, report."""

    def read_text(text, name="corpus.pubtator", **settings):
        path = tmp_path / name
        path.write_text(text, encoding="utf8", errors="surrogatepass")
        report = CorpusReport()
        docs = list(read_corpus(path, nlp=nlp, report=report, **settings))
        return docs, [list(annotated_mentions(doc)) for doc in docs], report

    return read_text
