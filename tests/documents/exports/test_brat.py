import json

import pytest
import spacy
from bioc import brat

from spacy_connorm.documents.corpora import CorpusReport, read_corpus
from spacy_connorm.documents.exports import export_docs
from spacy_connorm.documents.mentions import Mention, annotated_mentions, set_mentions
from spacy_connorm.documents.metadata import DOC_ID_KEY
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import FOUND, TEXT


@pytest.fixture
def folder(export):
    with pytest.warns(ConnormWarning, match="CNW770"):
        return export("found", format="brat")


def test_our_reader_reads_it_back(folder, documents):
    assert sorted(path.name for path in folder.iterdir()) == [
        *("2.ann", "2.txt", "3.ann", "3.txt", "annotation.conf", "note 7_a.ann", "note 7_a.txt"),
    ]
    with pytest.warns(ConnormWarning, match="CNW201"):
        *_, doc = read_corpus(folder, nlp=spacy.blank("xx"))
    assert doc.text == TEXT
    assert list(annotated_mentions(doc)) == [
        Mention(each.text, each.label.replace(" ", "_"), ids(each), each.fragments)
        for each in documents[0].mentions
    ]


def ids(mention):
    return "" if mention.is_nil else mention.kb_id.replace("MESH:", "")


def test_another_reader_reads_it_back(folder, documents):
    with (
        (folder / "note 7_a.txt").open(encoding="utf8", newline="") as text,
        (folder / "note 7_a.ann").open(encoding="utf8", newline="") as annotations,
    ):
        document = brat.load(text, annotations)
    assert document.text == TEXT
    notes = {each.refid: json.loads(each.text) for each in document.notes}
    for entity, mention in zip(document.entities, documents[0].mentions, strict=True):
        assert entity.total_span == (mention.start, mention.end)
        assert entity.text == mention.text
        _, kb_id, candidates = FOUND[entity.text]
        note = notes[entity.id]
        assert note["kb_id"] == kb_id and note.get("long_form", "") == mention.long_form
        assert note["candidates"] == [each._asdict() for each in candidates]


def test_ids_are_references_and_types_are_listed(folder):
    lines = (folder / "note 7_a.ann").read_text(encoding="utf8").splitlines()
    assert "N2\tReference T2 MESH:D001943\tBreast Neoplasms" in lines
    assert "N3\tReference T2 MESH:D010051\tOvarian Neoplasms" in lines
    config = (folder / "annotation.conf").read_text(encoding="utf8").splitlines()
    assert config[1:5] == ["[entities]", "Disease", "Finding", "Short_form"]


@pytest.mark.parametrize(("database", "reference"), [({}, "LOCAL"), ({"database": "x"}, "x")])
def test_gaps_odd_ids_and_repeated_names(tmp_path, database, reference):
    docs = []
    for _ in range(3):
        doc = spacy.blank("xx")("White\r\nand red\nblood cells")
        set_mentions(doc, [Mention("White red blood", "", "a7+C0000001", ((0, 5), (11, 20)))])
        doc.user_data[DOC_ID_KEY] = "..a/b"
        docs.append(doc)
    path = tmp_path / "out"
    with (
        pytest.warns(ConnormWarning, match="CNW770.*names of files.*: 3 times"),
        pytest.warns(ConnormWarning, match="CNW770.*`ID-2`.*: 2 times"),
    ):
        export_docs(docs, path, format="brat", **database)
    names = {file.stem for file in path.glob("*.ann")}
    assert names == {"_.a_b", "_.a_b-2", "_.a_b-3"}
    lines = (path / "_.a_b-2.ann").read_text(encoding="utf8").splitlines()
    assert lines[:3] == [
        "T1\tMention 0 5;11 20\tWhite red blood",
        f"N1\tReference T1 {reference}:a7\t",
        "N2\tReference T1 UMLS:C0000001\t",
    ]
    report = CorpusReport()
    first, *_ = read_corpus(path, nlp=spacy.blank("xx"), report=report)
    (mention,) = annotated_mentions(first)
    assert mention.fragments == ((0, 5), (11, 20)) and report.discontinuous == 3
    assert mention.kb_id == ("x:a7" if database else "a7") + "|C0000001"


def test_a_byte_order_mark_is_replaced(tmp_path):
    path, doc = tmp_path / "out", spacy.blank("xx")("\ufeffheart attack \ufeff")
    mentions = [
        Mention("\ufeffheart", "D", "a", ((0, 6),)),
        Mention("attack", "D", "b", ((7, 13),)),
    ]
    set_mentions(doc, mentions)
    with pytest.warns(ConnormWarning, match="CNW770.*U.FFFD.*: 1 times"):
        export_docs([doc], path, format="brat")
    report = CorpusReport()
    (read,) = read_corpus(path, nlp=spacy.blank("xx"), report=report)
    assert read.text == "\ufffdheart attack \ufeff" and not report.mismatched
    assert [each.text for each in annotated_mentions(read)] == ["\ufffdheart", "attack"]


def test_long_ids_are_cut(tmp_path):
    docs = [spacy.blank("xx")("a") for _ in range(2)]
    for doc in docs:
        doc.user_data[DOC_ID_KEY] = "x" * 101
    with (
        pytest.warns(ConnormWarning, match="CNW770.*more than 100 .*: 2 times"),
        pytest.warns(ConnormWarning, match="CNW770.*`ID-2`.*: 1 times"),
    ):
        export_docs(docs, tmp_path / "out", format="brat")
    names = {file.stem for file in (tmp_path / "out").glob("*.ann")}
    assert names == {"x" * 100, "x" * 100 + "-2"}


def test_only_our_own_folders_are_replaced(folder, docs, export, tmp_path):
    (folder / "old.ann").touch()
    with pytest.warns(ConnormWarning):
        export("found", format="brat")
    assert not (folder / "old.ann").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.ann").write_text("T1\tx 0 1\ta\n")
    with pytest.raises(ConnormError, match="CN705"):
        export_docs(docs, other, format="brat")
    assert [path.name for path in other.iterdir()] == ["note.ann"]

    def failing():
        yield docs[1]
        raise RuntimeError("stop")

    before = sorted(folder.iterdir())
    with pytest.raises(RuntimeError):
        export_docs(failing(), folder, format="brat")
    assert sorted(folder.iterdir()) == before
