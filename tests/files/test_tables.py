import gzip

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.tables import read_rows

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
    (tmp_path / "a.csv").write_text('a,b\n"c,d\ne,f\n')
    with pytest.raises(ConnormError, match=r"CN115.*a\.csv', line 3"):
        list(read_rows(tmp_path / "a.csv"))
