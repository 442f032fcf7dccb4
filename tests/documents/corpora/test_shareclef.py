import pytest

from spacy_connorm.documents.mentions import Mention
from spacy_connorm.errors import ConnormError, ConnormWarning

NOTE = "Abdomen is soft and tender.\nNo fever.\n"
LINES = """\
00098-016139-ECHO.txt||Disease_Disorder||C0000737||0||7||20||26
00098-016139-ECHO.txt||Disease_Disorder||CUI-less||20||26
00098-016139-ECHO.txt||Disease_Disorder||C0015967||31||36
"""


@pytest.fixture
def release(tmp_path):
    """Folders as published: notes, and annotations of train (`.pipe.txt`) and test (`.txt`)."""
    for name, content in (
        ("notes/00098-016139-ECHO.txt", NOTE),
        ("notes/00100-000001-ECHO.txt", "Well.\n"),
        ("train/00098-016139-ECHO.pipe.txt", LINES),
        ("train/00100-000001-ECHO.pipe.txt", ""),
        ("test/00098-016139-ECHO.txt", LINES),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode())
    return tmp_path


MENTIONS = [
    Mention("Abdomen tender", "Disease_Disorder", "C0000737", ((0, 7), (20, 26))),
    Mention("tender", "Disease_Disorder", "", ((20, 26),)),
    Mention("fever", "Disease_Disorder", "C0015967", ((31, 36),)),
]


def test_train_is_read(release, read_folder):
    with pytest.warns(ConnormWarning, match="CNW201"):
        ids, mentions, report = read_folder(release / "train", texts=release / "notes")
    assert ids == ["00098-016139-ECHO", "00100-000001-ECHO"]
    assert mentions == [MENTIONS, []]
    assert report.without_id == {"Disease_Disorder": 1}
    assert (report.discontinuous, report.without_mentions) == (1, 1)


def test_test_is_read_whose_annotations_are_called_as_the_notes(release, read_folder):
    notes = release / "notes"
    ids, mentions, _ = read_folder(release / "test", format="shareclef", texts=str(notes))
    assert (ids, mentions) == (["00098-016139-ECHO"], [MENTIONS])
    with pytest.raises(ConnormError, match=r"CN218.*test'.*--texts"):
        read_folder(release / "test", format="shareclef")


def test_notes_may_stand_beside_their_annotations(release, read_folder):
    (release / "train").rename(release / "notes" / "train")
    for path in (release / "notes" / "train").iterdir():
        path.rename(release / "notes" / path.name)
    with pytest.warns(ConnormWarning, match="CNW201"):
        assert read_folder(release / "notes")[1] == [MENTIONS, []]
    assert read_folder(release / "notes" / "00098-016139-ECHO.pipe.txt")[1] == [MENTIONS]


def test_one_file_may_have_the_annotations_of_several_notes(release, read_folder):
    path = release / "all.pipe"
    path.write_text(f"00100-000001-ECHO.txt||Disease_Disorder||C1||0||4\n{LINES}")
    ids, mentions, _ = read_folder(path, texts=release / "notes")
    assert ids == ["00100-000001-ECHO", "00098-016139-ECHO"]
    assert mentions[1] == MENTIONS


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("00098-016139-ECHO.txt", "CN217"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1", "CN217"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||0", "CN217"),
        ("00098-016139-ECHO.txt||Disease_Disorder||||0||7", "CN217"),
        ("00098-016139-ECHO.txt||||C1||0||7", "CN217"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||0||seven", "CN217"),
        ("00098-016139-ECHO.txt|Disease_Disorder|C1|0|7", "CN217"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||0||99", "CN207"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||7||7", "CN206"),
        ("00099-000000-ECHO.txt||Disease_Disorder||C1||0||7", "CN219"),
        ("../notes/00098-016139-ECHO.txt||Disease_Disorder||C1||0||7", "CN219"),
    ],
)
def test_bad_lines_are_named(release, read_folder, line, code):
    path = release / "train" / "00098-016139-ECHO.pipe.txt"
    path.write_text(f"00098-016139-ECHO.txt||Disease_Disorder||C1||0||7\n{line}\n")
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*ECHO\.pipe\.txt', line 2"):
        read_folder(release / "train", texts=release / "notes")


def test_a_note_of_an_empty_file_must_be_there(release, read_folder):
    (release / "notes" / "00100-000001-ECHO.txt").unlink()
    with pytest.raises(
        ConnormError, match=r"CN219.*00100-000001-ECHO\.pipe\.txt': the file '00100"
    ):
        read_folder(release / "train", texts=release / "notes")
