import pytest

from spacy_connorm.documents.mentions import Mention
from spacy_connorm.errors import ConnormError, ConnormWarning

NOTES = {
    "0034": "Heart failure.\nLeft ankle was swollen\nand warm, on furosemide.\n",
    "0051": "No complaints.\n",
    "0007": "Asthma?\n",
}
NORMS = {
    "0034": (
        "N000||C0018801||0||13\n"
        "N001||CUI-less||15||25||30||37\n"
        "N002||C0239833||30||37||15||25\n"
        "N003||C0016860||51||61\n"
    ),
    "0051": "N000||CUI-less||3||13\n",
    "0007": "N000||C0004096||0||6\n",
}


@pytest.fixture
def release(tmp_path):
    """A folder as published: notes, annotations, and a list that lacks one of them."""
    for name, text in NOTES.items():
        for folder, suffix, content in (("note", "txt", text), ("norm", "norm", NORMS[name])):
            path = tmp_path / "train" / f"train_{folder}" / f"{name}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
    (tmp_path / "train" / "train_file_list.txt").write_text("0051\n0034\n")
    return tmp_path


def test_the_list_tells_which_notes_are_read(release, read_folder):
    ids, mentions, report = read_folder(release)
    assert ids == ["0051", "0034"]
    assert mentions == [
        [Mention("complaints", "MENTION", "", ((3, 13),))],
        [
            Mention("Heart failure", "MENTION", "C0018801", ((0, 13),)),
            Mention("Left ankle swollen", "MENTION", "", ((15, 25), (30, 37))),
            Mention("Left ankle swollen", "MENTION", "C0239833", ((15, 25), (30, 37))),
            Mention("furosemide", "MENTION", "C0016860", ((51, 61),)),
        ],
    ]
    assert report.without_id == {"MENTION": 2}
    assert report.discontinuous == 2
    assert report.skipped == {"annotations (.norm) that no list names": 1}


def test_a_list_is_a_corpus_and_so_is_a_file(release, read_folder):
    path = release / "train" / "train_file_list.txt"
    path.write_text("0034.txt\n\n0007.norm\n")
    assert read_folder(path, format="mcn")[0] == ["0034", "0007"]
    assert read_folder(release / "train" / "train_norm" / "0007.norm")[0] == ["0007"]


def test_without_a_list_all_are_read_in_order(release, read_folder):
    (release / "train" / "train_file_list.txt").unlink()
    ids, _, report = read_folder(release / "train" / "train_norm")
    assert ids == ["0007", "0034", "0051"]
    assert not report.skipped


def test_the_folder_of_the_annotations_may_have_a_longer_name(release, read_folder):
    train, test = release / "train", release / "test"
    train.rename(test)
    (test / "train_note").rename(test / "test_note")
    (test / "train_norm").rename(test / "test_norm_cui_replaced_with_unk")
    (test / "train_file_list.txt").rename(test / "test_file_list.txt")
    assert read_folder(release)[0] == ["0051", "0034"]


def test_notes_may_be_elsewhere(release, read_folder):
    notes = release / "notes"
    (release / "train" / "train_note").rename(notes)
    with pytest.raises(ConnormError, match=r"CN219.*0051\.norm': its file '0051\.txt'.*--texts"):
        read_folder(release)
    assert read_folder(release, texts=notes)[0] == ["0051", "0034"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *(("N001", "CN204"), ("N001||C1||0", "CN204"), ("N001||||0||5", "CN204")),
        *(("||C1||0||5", "CN204"), ("N001||C1||-1||5", "CN204")),
        *((f"N001||C1||0||{'9' * 5000}", "CN204"), ("N001||C1||0||5||7", "CN204")),
        *(("N001||C1||0||999", "CN207"), ("N001||C1||5||0", "CN207")),
    ],
)
def test_bad_lines_are_named(release, read_folder, line, code):
    path = release / "train" / "train_norm" / "0034.norm"
    path.write_text(f"N000||C0018801||0||13\n{line}\n")
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*0034\.norm', line 2"):
        read_folder(release)


@pytest.mark.parametrize("name", ["0099", "../train_norm/0034", "..", "a\0b"])
def test_a_list_names_files_that_are_there(release, read_folder, name):
    (release / "train" / "train_file_list.txt").write_text(f"0034\n{name}\n")
    with pytest.raises(ConnormError, match=r"\[CN219\] .*train_file_list\.txt', line 2"):
        read_folder(release)


def test_other_formats_have_no_notes(release, read_folder):
    with pytest.raises(ConnormError, match=r"CN113.*'brat'.*texts.*Its options: none"):
        read_folder(release, format="brat", texts=release)
    with pytest.raises(ConnormError, match="CN104"):
        read_folder(release / "train" / "train_note", format="mcn")


@pytest.mark.parametrize("name", ["absent.norm", "train"])
def test_what_is_not_there_is_named(tmp_path, read_folder, name):
    with pytest.raises(ConnormError, match=f"CN100.*{name}"):
        read_folder(tmp_path / name, format="mcn")


NOTE = "Abdomen is soft and tender.\nNo fever.\n"
LINES = """\
00098-016139-ECHO.txt||Disease_Disorder||C0000737||0||7||20||26
00098-016139-ECHO.txt||Disease_Disorder||CUI-less||20||26
00098-016139-ECHO.txt||Disease_Disorder||C0015967||31||36
"""


@pytest.fixture
def shareclef_release(tmp_path):
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


def test_train_is_read(shareclef_release, read_folder):
    with pytest.warns(ConnormWarning, match="CNW201"):
        ids, mentions, report = read_folder(
            shareclef_release / "train", texts=shareclef_release / "notes"
        )
    assert ids == ["00098-016139-ECHO", "00100-000001-ECHO"]
    assert mentions == [MENTIONS, []]
    assert report.without_id == {"Disease_Disorder": 1}
    assert (report.discontinuous, report.without_mentions) == (1, 1)


def test_test_is_read_whose_annotations_are_called_as_the_notes(shareclef_release, read_folder):
    notes = shareclef_release / "notes"
    ids, mentions, _ = read_folder(shareclef_release / "test", format="shareclef", texts=str(notes))
    assert (ids, mentions) == (["00098-016139-ECHO"], [MENTIONS])
    with pytest.raises(ConnormError, match=r"CN218.*test'.*--texts"):
        read_folder(shareclef_release / "test", format="shareclef")


def test_notes_may_stand_beside_their_annotations(shareclef_release, read_folder):
    (shareclef_release / "train").rename(shareclef_release / "notes" / "train")
    for path in (shareclef_release / "notes" / "train").iterdir():
        path.rename(shareclef_release / "notes" / path.name)
    with pytest.warns(ConnormWarning, match="CNW201"):
        assert read_folder(shareclef_release / "notes")[1] == [MENTIONS, []]
    assert read_folder(shareclef_release / "notes" / "00098-016139-ECHO.pipe.txt")[1] == [MENTIONS]


def test_one_file_may_have_the_annotations_of_several_notes(shareclef_release, read_folder):
    path = shareclef_release / "all.pipe"
    path.write_text(f"00100-000001-ECHO.txt||Disease_Disorder||C1||0||4\n{LINES}")
    ids, mentions, _ = read_folder(path, texts=shareclef_release / "notes")
    assert ids == ["00100-000001-ECHO", "00098-016139-ECHO"]
    assert mentions[1] == MENTIONS


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("00098-016139-ECHO.txt", "CN204"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||0", "CN204"),
        ("00098-016139-ECHO.txt||Disease_Disorder||||0||7", "CN204"),
        ("00098-016139-ECHO.txt||||C1||0||7", "CN204"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||0||seven", "CN204"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||0||99", "CN207"),
        ("00098-016139-ECHO.txt||Disease_Disorder||C1||7||7", "CN207"),
        ("00099-000000-ECHO.txt||Disease_Disorder||C1||0||7", "CN219"),
        ("../notes/00098-016139-ECHO.txt||Disease_Disorder||C1||0||7", "CN219"),
    ],
)
def test_shareclef_bad_lines_are_named(shareclef_release, read_folder, line, code):
    path = shareclef_release / "train" / "00098-016139-ECHO.pipe.txt"
    path.write_text(f"00098-016139-ECHO.txt||Disease_Disorder||C1||0||7\n{line}\n")
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*ECHO\.pipe\.txt', line 2"):
        read_folder(shareclef_release / "train", texts=shareclef_release / "notes")


def test_a_note_of_an_empty_file_must_be_there(shareclef_release, read_folder):
    (shareclef_release / "notes" / "00100-000001-ECHO.txt").unlink()
    with pytest.raises(
        ConnormError, match=r"CN219.*00100-000001-ECHO\.pipe\.txt': its file '00100"
    ):
        read_folder(shareclef_release / "train", texts=shareclef_release / "notes")
