import pytest
import spacy

from spacy_connorm.documents.corpora import CorpusReport, read_corpus
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.documents.metadata import DOC_ID_KEY


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
