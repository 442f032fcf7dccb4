"""MCN and ShARe/CLEF, as their shared tasks published them."""

import pytest
import spacy

from spacy_connorm.documents import CorpusReport
from spacy_connorm.documents.mentions import Mention, annotated_mentions
from spacy_connorm.errors import ConnormError

NOTE = "Heart failure.\nLeft ankle was swollen\nand warm, on furosemide.\n"
NORM = "N000||C0018801||0||13\nN001||CUI-less||15||25||30||37\n"
PIPE = """\
1-ECHO.txt||Disease_Disorder||C0018801||0||13
1-ECHO.txt||Disease_Disorder||CUI-less||15||25||30||37
2-ECHO.txt||Sign||C0424653||0||4
"""


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf8")
        return path

    return write_file


@pytest.fixture
def notes(modules):
    from _common.clinical_notes import read_clinical_notes

    def read(path, types=()):
        docs = list(read_clinical_notes(path, nlp=spacy.blank("en"), types=types))
        return [list(annotated_mentions(doc)) for doc in docs]

    return read


def mentions(label):
    return [
        Mention("Heart failure", label, "C0018801", ((0, 13),)),
        Mention("Left ankle swollen", label, "", ((15, 25), (30, 37))),
    ]


def test_mcn_lists_its_notes(notes, write):
    for name in ("0034", "0051"):
        write(f"train/train_note/{name}.txt", NOTE)
        write(f"train/train_norm/{name}.norm", NORM if name == "0034" else "")
    path = write("train/train_file_list.txt", "0051\n0034\n")
    assert notes(path) == [[], mentions("MENTION")]


def test_shareclef_names_the_note_in_each_line(notes, write):
    write("1-ECHO.txt", NOTE)
    write("2-ECHO.txt", "Well.")
    path = write("train.pipe", PIPE)
    well = Mention("Well", "Sign", "C0424653", ((0, 4),))
    assert notes(path) == [mentions("Disease_Disorder"), [well]]
    assert notes(path, ["Sign"]) == [[], [well]]


@pytest.mark.parametrize("line", ["N001", "N001||C1", "N001||C1||0", "N001||C1||0||five"])
def test_a_line_without_offsets_is_named(modules, write, line):
    from _common.clinical_notes import read_annotations

    path = write("0034.norm", f"{NORM}{line}\n")
    with pytest.raises(ConnormError, match=r"\[CN204\] .*0034\.norm', line 3"):
        list(read_annotations(path, fields=2, report=CorpusReport()))


def test_data_sets_are_read_as_their_files_are_called(modules, write):
    from _common.datasets import DATASETS, read_docs

    write("1-ECHO.txt", NOTE)
    write("2-ECHO.txt", "Well.")
    docs = read_docs(write("train.pipe", PIPE), types=DATASETS["shareclef"].types)
    assert [len(list(annotated_mentions(doc))) for doc in docs] == [2, 0]
