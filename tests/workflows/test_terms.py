import pytest

from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.workflows import LocalTerm, read_terms

COLD = LocalTerm("A1", "the cold", "since a week", 1234)
DIZZY = LocalTerm("A2", "dizzy")


@pytest.fixture
def table(tmp_path):
    def write(text, name="terms.csv"):
        (tmp_path / name).write_text(text, encoding="utf8")
        return tmp_path / name

    return write


def test_csv_and_tsv(table):
    csv = 'code,term,context,count\nA1,"the  cold",since a week,"1,234"\n\nA2,dizzy,,\n'
    assert read_terms(table(csv)) == [COLD, DIZZY]
    tsv = "count\tterm\tcode\tcontext\n1234\tthe cold\tA1\tsince a week\n\tdizzy\tA2\n"
    assert read_terms(table(tsv, "terms.tsv")) == [COLD, DIZZY]


def test_what_separates_fields(table):
    assert read_terms(table("code;term;count\nA2;dizzy;\n")) == [DIZZY]
    path = table("code!term\nA2!dizzy\n", "terms.txt")
    assert read_terms(path, delimiter="!") == [DIZZY]


def test_columns_have_other_names(table):
    path = table("Id;x,Name,n\nA2,dizzy,3\n")
    found = read_terms(path, code="Id;x", term="Name", count="n")
    assert found == [LocalTerm("A2", "dizzy", count=3)]
    with pytest.raises(ConnormError, match="CN114.*Id;x, Name, n"):
        read_terms(path)
    with pytest.raises(ConnormError, match="CN114.*'why'"):
        read_terms(path, code="Id;x", term="Name", context="why")


def test_rows_without_code_or_term_are_left_out(table):
    with pytest.warns(ConnormWarning, match="CNW780.*: 2, the first in line 3"):
        found = read_terms(table("code,term\nA2,dizzy\n,cold\nA3,\n"))
    assert found == [DIZZY]


def test_two_columns_of_one_name(table):
    path = table("code,term,term,note,note\nA2,dizzy,cold,x,y\n")
    with pytest.raises(ConnormError, match=r"CN125.*terms\.csv.*'term'"):
        read_terms(path)
    # Those that nobody reads may have any names.
    assert read_terms(path, term="2") == [DIZZY]


@pytest.mark.parametrize("count", ["many", "-1", "1.5", "²"])
def test_a_count_that_is_none(table, count):
    with pytest.raises(ConnormError, match="CN115.*line 2"):
        read_terms(table(f"code,term,count\nA1,cold,{count}\n"))


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("terms.csv", "code,term\n", "CN104"),
        ("terms.csv", "", "CN114"),
        ("terms.csv", 'code,term\nA,"b', "CN115"),
        ("terms.csv", "code,term\nA,b\nB,pain, chest\n", "CN115.*line 3.*quotation marks"),
        ("terms.pdf", "code,term\n", "CN708"),
        ("terms.xlsx", "code,term\n", "CN708"),
    ],
)
def test_what_is_no_table(table, name, content, code):
    with pytest.raises(ConnormError, match=code):
        read_terms(table(content, name))
