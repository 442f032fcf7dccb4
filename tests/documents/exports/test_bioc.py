import json
import re

import pytest
import spacy
from bioc import biocjson, biocxml
from bioc.validator import BioCValidator

from spacy_connorm.documents.corpora import CorpusReport, read_corpus
from spacy_connorm.documents.exports import export_docs
from spacy_connorm.documents.mentions import Mention, annotated_mentions, set_mentions
from spacy_connorm.documents.metadata import DOC_ID_KEY
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import FIELDS, FOUND, TEXT

FILES = ("found.xml", "found.xml.gz", "found.bioc.json")


def load(path):
    with path.open(encoding="utf8", newline="") as file:
        if path.suffix == ".json":
            return biocjson.load(file)
    return biocxml.load(str(path))


@pytest.mark.parametrize("name", [FILES[0], FILES[2]])
def test_the_library_reads_everything_back(export, documents, name):
    collection = load(export(name, date="2024-05-31"))
    assert collection.date == "2024-05-31"
    BioCValidator().validate(collection)
    first, second, third = collection.documents
    assert [each.id for each in collection.documents] == ["note 7|a", "2", "3"]
    assert [each.passages[0].text or "" for each in (second, third)] == ["Nothing here.", ""]
    assert first.infons == {"id": "note 7|a", "patient": "3", "ward": '{"name": "B"}'}
    (passage,) = first.passages
    assert passage.text == TEXT
    for annotation, mention in zip(passage.annotations, documents[0].mentions, strict=True):
        (location,) = annotation.locations
        assert (location.offset, location.end) == (mention.start, mention.end)
        label, kb_id, candidates = FOUND[annotation.text]
        infons = annotation.infons
        assert infons["type"] == label
        assert infons["identifier"] == ("-1" if kb_id == "NIL" else kb_id)
        assert infons.get("long_form", "") == mention.long_form
        assert json.loads(infons["candidates"]) == [each._asdict() for each in candidates]
        assert float(infons["score"]) == min(each.score for each in mention.leading)
    composite = passage.annotations[1].infons
    assert composite["name"] == "Breast Neoplasms|Ovarian Neoplasms"
    assert composite["probability"] == "0.75"


@pytest.mark.parametrize("name", FILES)
def test_our_reader_reads_it_back(export, documents, name):
    with pytest.warns(ConnormWarning, match="CNW201"):
        first, _ = read_corpus(export(name), nlp=spacy.blank("xx"))
    # In XML, \r is written as a reference.
    assert first.text == TEXT
    assert list(annotated_mentions(first)) == [
        Mention(each.text, each.label, ids(each), each.fragments) for each in documents[0].mentions
    ]


def ids(mention):
    return "" if mention.is_nil else mention.kb_id.replace("MESH:", "")


@pytest.mark.parametrize("name", FILES)
def test_gaps_and_odd_characters(tmp_path, name):
    doc = spacy.blank("xx")("White\x0b and red \ufffe blood ]]> cells\x85 \t&amp; more")
    gap = Mention("White blood", "CELL \x01", "CL:1", ((0, 5), (17, 22)))
    set_mentions(doc, [gap])
    path = tmp_path / name
    if "xml" in name:
        with pytest.warns(ConnormWarning, match="CNW770.*U.FFFD.*: 2 times"):
            export_docs([doc], path)
        text, label = re.sub("[\x0b\ufffe]", "\ufffd", doc.text), "CELL \ufffd"
    else:
        export_docs([doc], path)
        text, label = doc.text, "CELL \x01".strip()
    report = CorpusReport()
    (read,) = read_corpus(path, nlp=spacy.blank("xx"), report=report)
    assert read.text == text
    assert list(annotated_mentions(read)) == [gap._replace(label=label)]
    assert (report.discontinuous, report.mismatched) == (1, [])


@pytest.mark.parametrize("name", FILES)
def test_documents_with_the_same_id_stay_apart(tmp_path, name):
    docs = [spacy.blank("xx")(text) for text in ("one", "two")]
    for doc in docs:
        set_mentions(doc, [Mention(doc.text, "D", "C1", ((0, 3),))])
        doc.user_data[DOC_ID_KEY] = "d"
    export_docs(docs, tmp_path / name)
    with pytest.warns(ConnormWarning, match="CNW203.*: 1"):
        read = list(read_corpus(tmp_path / name, nlp=spacy.blank("xx")))
    assert [doc.text for doc in read] == ["one", "two"]
    assert [doc.user_data[DOC_ID_KEY] for doc in read] == ["d", "d"]


def test_documents_stand_on_lines(export):
    lines = export("found.bioc.json").read_text(encoding="utf8").splitlines()
    assert [json.loads(line.rstrip(","))["id"] for line in lines[1:-1]] == [FIELDS["id"], "2", "3"]
    assert json.loads("".join(lines))["infons"] == {}


@pytest.mark.parametrize("date", ["yesterday", "2024-13-01", 7])
def test_a_date_is_a_date(export, date):
    with pytest.raises(ConnormError, match="CN006.*`date`"):
        export("found.xml", date=date)
