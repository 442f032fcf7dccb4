import pytest

from spacy_connorm.documents.corpora import CorpusReport, read_corpus
from spacy_connorm.documents.mentions import Mention, annotated_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

TEXT = "Red and white cells,\r\n😀 cafe\u0301 au\nlait: skin cancer.\n"
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

    def write(annotations=ANNOTATIONS, text=TEXT):
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
    assert doc.text == TEXT
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
        "ids of what is no mention": 1,
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
        ("Red cells", "CN215"),
        ("Q1\tCell 0 3\tRed", "CN215"),
        ("T1", "CN215"),
        ("T1\tCell", "CN215"),
        ("T1\tCell 0\tRed", "CN215"),
        ("T1\tCell 0 x\tRed", "CN215"),
        ("T1\tCell -1 3\tRed", "CN215"),
        (f"T1\tCell 0 {'9' * 5000}\tRed", "CN215"),
        ("T1\tRed cell 0 3\tRed", "CN215"),
        ("T1\tCell 0 3;\tRed", "CN215"),
        ("N1\tReference", "CN215"),
        ("N1\tReference T9", "CN215"),
        ("N1", "CN215"),
        ("T1\tCell 0 999\tRed", "CN207"),
        ("T1\tCell 3 0\tRed", "CN206"),
    ],
)
def test_bad_lines_are_named(folder, nlp, line, code):
    path = folder(f"T8\tCell 0 3\tRed\n{line}\n")
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*note 1\.ann', line 2"):
        list(read_corpus(path, nlp=nlp))


def test_a_text_must_be_there_and_be_text(folder, nlp, tmp_path):
    path = folder(text=None)
    with pytest.raises(ConnormError, match=r"CN216.*note 1\.ann.*'note 1\.txt'"):
        list(read_corpus(path, nlp=nlp))
    (path / "part" / "note 1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ConnormError, match=r"CN107.*note 1\.txt"):
        list(read_corpus(path, nlp=nlp))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConnormError, match="CN105"):
        list(read_corpus(tmp_path / "empty", nlp=nlp))
    with pytest.raises(ConnormError, match="CN203"):
        list(read_corpus(tmp_path / "empty", nlp=nlp, format="brat"))
    with pytest.raises(ConnormError, match="CN100"):
        list(read_corpus(tmp_path / "absent.ann", nlp=nlp))
