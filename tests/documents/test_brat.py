import json

import pytest
import spacy
from bioc import brat

from spacy_connorm.documents import CorpusReport, export_docs, read_corpus
from spacy_connorm.documents.document import DOC_ID_KEY
from spacy_connorm.documents.mentions import Mention, annotated_mentions, set_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import FOUND, TEXT

NOTE = "Red and white cells,\r\n😀 cafe\u0301 au\nlait: skin cancer.\n"
ANNOTATIONS = """\
N1\tReference T2 MESH:D012878\tSkin Neoplasms
T1\tCell 0 3;14 19\tRed cells
T2\tDisease 39 50\tskin cancer
T3\tSpot 24 37\tcafe\u0301 au lait
N2\tReference T2 LOCAL:x7\tMy name
N3\tOntoBiotope Annotation:T1 Referent:OBT:000001
N4\tReference E1 GO:0000001\tSomething
E1\tLoss:T3
R1\tPart-of Arg1:T1 Arg2:T2
*\tEquiv T1 T2
A1\tNegation T2
#1\tAnnotatorNotes T2\tsure?
"""


@pytest.fixture
def folder(tmp_path):
    """A function that writes a folder with one text."""

    def write(annotations=ANNOTATIONS, text=NOTE):
        path = tmp_path / "corpus"
        (path / "part").mkdir(parents=True)
        if text is not None:
            (path / "part" / "note 1.txt").write_bytes(text.encode())
        (path / "part" / "note 1.ann").write_bytes(annotations.encode())
        return path

    return write


def test_a_folder_is_read(folder, nlp):
    path = folder()
    (path / "alone.txt").write_text("No annotations.")
    report = CorpusReport()
    (doc,) = read_corpus(path, nlp=nlp, report=report)
    assert doc.text == NOTE
    assert doc.user_data["spacy_connorm.doc_id"] == "part/note 1"
    assert list(annotated_mentions(doc)) == [
        Mention("Red cells", "Cell", "OBT:000001", ((0, 3), (14, 19))),
        Mention("skin cancer", "Disease", "D012878|x7", ((39, 50),)),
        Mention("cafe\u0301 au\nlait", "Spot", "", ((24, 37),)),
    ]
    assert (report.discontinuous, report.mismatched) == (1, [])
    assert report.skipped == {
        "relations": 2,
        "events": 1,
        "attributes": 1,
        "notes": 1,
        "ids of other things than mentions": 1,
        "texts without annotations (.ann)": 1,
    }


def test_one_file_is_read(folder, nlp):
    path = folder() / "part" / "note 1.ann"
    (doc,) = read_corpus(path, nlp=nlp)
    assert doc.user_data["spacy_connorm.doc_id"] == "note 1"


def test_other_texts_are_reported(folder, nlp):
    with pytest.warns(ConnormWarning, match="CNW200.*line 1"):
        list(read_corpus(folder("T1\tDisease 0 3\tBlue\n"), nlp=nlp))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Red cells", "CN204"),
        ("Q1\tCell 0 3\tRed", "CN204"),
        ("T1", "CN204"),
        ("T1\tCell 0\tRed", "CN204"),
        ("T1\tCell -1 3\tRed", "CN204"),
        (f"T1\tCell 0 {'9' * 5000}\tRed", "CN204"),
        ("T1\tRed cell 0 3\tRed", "CN204"),
        ("T1\tCell 0 3;\tRed", "CN204"),
        ("N1\tReference T9", "CN204"),
        ("N1", "CN204"),
        ("T1\tCell 0 999\tRed", "CN207"),
        ("T1\tCell 3 0\tRed", "CN207"),
    ],
)
def test_bad_lines_are_named(folder, nlp, line, code):
    path = folder(f"T8\tCell 0 3\tRed\n{line}\n")
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*note 1\.ann', line 2"):
        list(read_corpus(path, nlp=nlp))


def test_a_text_must_be_there_and_be_text(folder, nlp, tmp_path):
    path = folder(text=None)
    with pytest.raises(ConnormError, match=r"CN219.*note 1\.ann.*'note 1\.txt'"):
        list(read_corpus(path, nlp=nlp))
    (path / "part" / "note 1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ConnormError, match=r"CN107.*note 1\.txt"):
        list(read_corpus(path, nlp=nlp))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConnormError, match="CN105"):
        list(read_corpus(tmp_path / "empty", nlp=nlp))
    with pytest.raises(ConnormError, match="CN104"):
        list(read_corpus(tmp_path / "empty", nlp=nlp, format="brat"))
    with pytest.raises(ConnormError, match="CN100"):
        list(read_corpus(tmp_path / "absent.ann", nlp=nlp))


@pytest.fixture
def written_folder(export):
    with pytest.warns(ConnormWarning, match="CNW770"):
        return export("found", format="brat")


def test_our_reader_reads_it_back(written_folder, documents):
    assert sorted(path.name for path in written_folder.iterdir()) == [
        "2.ann",
        "2.txt",
        "3.ann",
        "3.txt",
        "annotation.conf",
        "note 7_a.ann",
        "note 7_a.txt",
    ]
    with pytest.warns(ConnormWarning, match="CNW201"):
        *_, doc = read_corpus(written_folder, nlp=spacy.blank("xx"))
    assert doc.text == TEXT
    assert list(annotated_mentions(doc)) == [
        Mention(mention.text, mention.label.replace(" ", "_"), ids(mention), mention.fragments)
        for mention in documents[0].mentions
    ]


def ids(mention):
    return "" if mention.is_nil else mention.kb_id.replace("MESH:", "")


def test_another_reader_reads_it_back(written_folder, documents):
    with (
        (written_folder / "note 7_a.txt").open(encoding="utf8", newline="") as text,
        (written_folder / "note 7_a.ann").open(encoding="utf8", newline="") as annotations,
    ):
        document = brat.load(text, annotations)
    assert document.text == TEXT
    notes = {note.refid: json.loads(note.text) for note in document.notes}
    for entity, mention in zip(document.entities, documents[0].mentions, strict=True):
        assert entity.total_span == mention.extent
        assert entity.text == mention.text
        _, kb_id, candidates = FOUND[entity.text]
        note = notes[entity.id]
        assert note["kb_id"] == kb_id and note.get("long_form", "") == mention.long_form
        assert note["candidates"] == [candidate._asdict() for candidate in candidates]


def test_ids_are_references_and_types_are_listed(written_folder):
    lines = (written_folder / "note 7_a.ann").read_text(encoding="utf8").splitlines()
    assert "N2\tReference T2 MESH:D001943\tBreast Neoplasms" in lines
    assert "N3\tReference T2 MESH:D010051\tOvarian Neoplasms" in lines
    config = (written_folder / "annotation.conf").read_text(encoding="utf8").splitlines()
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
        pytest.warns(ConnormWarning, match="CNW770.*file names.*times: 3"),
        pytest.warns(ConnormWarning, match="CNW770.*`ID-2`.*times: 2"),
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
    with pytest.warns(ConnormWarning, match="CNW770.*U.FFFD.*times: 1"):
        export_docs([doc], path, format="brat")
    report = CorpusReport()
    (read,) = read_corpus(path, nlp=spacy.blank("xx"), report=report)
    assert read.text == "\ufffdheart attack \ufeff" and not report.mismatched
    assert [mention.text for mention in annotated_mentions(read)] == ["\ufffdheart", "attack"]


def test_long_ids_are_cut(tmp_path):
    docs = [spacy.blank("xx")("a") for _ in range(2)]
    for doc in docs:
        doc.user_data[DOC_ID_KEY] = "x" * 101
    with (
        pytest.warns(ConnormWarning, match="CNW770.*more than 100 .*times: 2"),
        pytest.warns(ConnormWarning, match="CNW770.*`ID-2`.*times: 1"),
    ):
        export_docs(docs, tmp_path / "out", format="brat")
    names = {file.stem for file in (tmp_path / "out").glob("*.ann")}
    assert names == {"x" * 100, "x" * 100 + "-2"}


def test_only_our_own_folders_are_replaced(written_folder, docs, export, tmp_path):
    (written_folder / "old.ann").touch()
    with pytest.warns(ConnormWarning):
        export("found", format="brat")
    assert not (written_folder / "old.ann").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.ann").write_text("T1\tx 0 1\ta\n")
    with pytest.raises(ConnormError, match="CN705"):
        export_docs(docs, other, format="brat")
    assert [path.name for path in other.iterdir()] == ["note.ann"]

    def failing():
        yield docs[1]
        raise RuntimeError("stop")

    before = sorted(written_folder.iterdir())
    with pytest.raises(RuntimeError):
        export_docs(failing(), written_folder, format="brat")
    assert sorted(written_folder.iterdir()) == before


@pytest.mark.parametrize("counted", [0, 1])
def test_a_byte_order_mark_may_be_counted_or_not(folder, nlp, counted):
    lines = [
        f"T1\tCell {counted} {3 + counted};{14 + counted} {19 + counted}\tRed cells",
        f"T2\tDisease {39 + counted} {50 + counted}\tskin cancer",
        "N1\tReference T2 MESH:D012878\tSkin Neoplasms",
    ]
    path = folder(annotations="".join(f"{line}\n" for line in lines), text="\ufeff" + NOTE)
    (doc,) = read_corpus(path, nlp=nlp)
    assert doc.text == NOTE
    mentions = list(annotated_mentions(doc))
    assert [(mention.text, mention.kb_id) for mention in mentions] == [
        ("Red cells", ""),
        ("skin cancer", "D012878"),
    ]
    assert mentions[1].fragments == ((39, 50),)


@pytest.mark.filterwarnings("ignore:.*repeated ids")
@pytest.mark.parametrize("doc_id", ["\U0001f600" * 70, "\u00e9" * 120, "x" * 300])
def test_long_ids_in_any_script_are_file_names(tmp_path, doc_id):
    nlp, docs = spacy.blank("en"), []
    for _ in range(12):
        docs.append(nlp("heart"))
        docs[-1].user_data[DOC_ID_KEY] = doc_id
    with pytest.warns(ConnormWarning, match="CNW770.*bytes.*times: 12"):
        export_docs(docs, tmp_path / "out", format="brat")
    assert len(list((tmp_path / "out").glob("*.txt"))) == 12
