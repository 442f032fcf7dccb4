import gzip

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.odd_lines import OddLines
from spacy_connorm.files.tables import find_column, read_rows, require_width

TABS, COMMAS = 'a,1\t"b ""c"""\n', 'a\t1,"b\n""c"""\n'


@pytest.mark.parametrize(
    ("name", "content", "row"),
    [
        ("a.csv", COMMAS, (2, ["a\t1", 'b\n"c"'])),
        ("TERMS.CSV", COMMAS, (2, ["a\t1", 'b\n"c"'])),
        ("a.Csv.GZ", COMMAS, (2, ["a\t1", 'b\n"c"'])),
        ("my.csv.tsv", TABS, (1, ["a,1", 'b "c"'])),
        ("a.csv.tsv.gz", TABS, (1, ["a,1", 'b "c"'])),
        ("csv", TABS, (1, ["a,1", 'b "c"'])),
        ("a.csv", "code;term 1\n", (1, ["code", "term 1"])),
        ("a.csv.gz", "code;term 1\n", (1, ["code", "term 1"])),
        ("a.csv", "code\tterm 1\n", (1, ["code", "term 1"])),
        ("a.csv", '"a;b",c\n', (1, ["a;b", "c"])),
        ("a.csv", "code\n", (1, ["code"])),
    ],
)
def test_the_last_ending_tells_what_separates_fields(tmp_path, name, content, row):
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    assert list(read_rows(tmp_path / name)) == [row]


@pytest.mark.parametrize("delimiter", ["", ";;", r"\t", '"', "\n"])
def test_a_delimiter_that_is_none(tmp_path, delimiter):
    (tmp_path / "a.csv").write_text("a;b\n")
    with pytest.raises(ConnormError, match="CN006.*delimiter.*one character"):
        read_rows(tmp_path / "a.csv", delimiter=delimiter)


def test_fields_may_be_long(tmp_path):
    (tmp_path / "a.csv").write_text(f'a,"{"x" * 140_000}"\n')
    assert list(read_rows(tmp_path / "a.csv")) == [(1, ["a", "x" * 140_000])]


def test_a_quotation_mark_without_an_end(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n"c\nd",e\n\nf,"g\nh,i\n')
    with pytest.raises(ConnormError, match=r"CN115.*a\.csv', line 5:.*mark.*is not closed"):
        list(read_rows(tmp_path / "a.csv"))


def test_a_quotation_mark_behind_the_end_of_a_field(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n"c,d\n"e,f\ng,h\n')
    with pytest.raises(ConnormError, match=r"CN115.*a\.csv', line 3:.*expected after"):
        list(read_rows(tmp_path / "a.csv"))


def test_an_empty_table(tmp_path):
    (tmp_path / "a.csv").write_text("\n")
    columns = [row for _, row in read_rows(tmp_path / "a.csv")]
    with pytest.raises(ConnormError, match=r"CN114.*a\.csv' has no column 'b'.*the file is empty"):
        find_column(tmp_path / "a.csv", "b", columns)


@pytest.mark.parametrize(
    ("name", "delimiter", "hint"),
    [
        ("a.csv", None, "put quotation marks around fields that contain ','"),
        ("a.txt", ";", "put quotation marks around fields that contain ';'"),
        ("a.tsv", None, "a field can't contain a tab"),
    ],
)
def test_a_row_has_at_most_as_many_fields_as_the_table_has_columns(tmp_path, name, delimiter, hint):
    path, between = tmp_path / name, delimiter or {".csv": ",", ".tsv": "\t"}[name[1:]]
    path.write_text("a,b\nc\nd,e,, \nf,g,,h\n".replace(",", between))
    rows = require_width(read_rows(path, delimiter=delimiter), path, 2, delimiter=delimiter)
    assert [next(rows) for _ in range(3)] == [(1, ["a", "b"]), (2, ["c"]), (3, ["d", "e", "", " "])]
    with pytest.raises(ConnormError, match=rf"CN115.*line 4.*4 fields.*2 columns; {hint}"):
        next(rows)


@pytest.mark.parametrize("mark", [";", "|", "\\t"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_the_first_line_may_tell_a_spreadsheet_the_separator(tmp_path, name, mark):
    between = "\t" if mark == "\\t" else mark
    path = tmp_path / name
    path.write_text(f"SEP={between}\r\nid{between}name\r\n1{between}one, two\r\n")
    assert [row for _, row in read_rows(path)] == [["id", "name"], ["1", "one, two"]]


def test_rows_after_one_that_is_not_csv_are_read(tmp_path):
    path, odd = tmp_path / "a.csv", OddLines(1)
    path.write_text('a,b\n1,"x" y\n2,"z"\n3,"x"y"\n4,w\n')
    rows = list(read_rows(path, odd=odd))
    assert [row for _, row in rows] == [["a", "b"], ["2", "z"], ["4", "w"]]
    assert [number for number, _ in rows] == [1, 3, 5]
    assert (odd.skipped, odd.read) == (2, 3)
    assert "line 2: can't be read as a table" in str(odd.first)
