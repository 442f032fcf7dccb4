import pytest

from spacy_connorm.documents.mentions import Mention
from spacy_connorm.errors import ConnormError

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
    with pytest.raises(ConnormError, match=r"CN219.*0051\.norm': the file '0051\.txt'.*--texts"):
        read_folder(release)
    assert read_folder(release, texts=notes)[0] == ["0051", "0034"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("N001", "CN217"),
        ("N001||C1", "CN217"),
        ("N001||C1||0", "CN217"),
        ("N001||||0||5", "CN217"),
        ("||C1||0||5", "CN217"),
        ("N001||C1||0||five", "CN217"),
        ("N001||C1||-1||5", "CN217"),
        (f"N001||C1||0||{'9' * 5000}", "CN217"),
        ("N001||C1||0||5||", "CN217"),
        ("N001||C1||0||5||7", "CN217"),
        ("N001|C1|0|5", "CN217"),
        ("N001||C1||0||999", "CN207"),
        ("N001||C1||5||0", "CN206"),
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
    with pytest.raises(ConnormError, match=r"CN202.*'brat'.*texts.*Its settings: none"):
        read_folder(release, format="brat", texts=release)
    with pytest.raises(ConnormError, match="CN203"):
        read_folder(release / "train" / "train_note", format="mcn")


@pytest.mark.parametrize("name", ["absent.norm", "train"])
def test_what_is_not_there_is_named(tmp_path, read_folder, name):
    with pytest.raises(ConnormError, match=f"CN100.*{name}"):
        read_folder(tmp_path / name, format="mcn")
