from datetime import date
from unittest.mock import patch

import openpyxl
import pytest

from spacy_connorm.documents.abbreviations import long_forms_of
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.workflows import LocalTerm, read_terms
from spacy_connorm.workflows import terms as local_terms
from spacy_connorm.workflows.terms import find_candidates

COLD = LocalTerm("A1", "the cold", "since a week", 1234)
DIZZY = LocalTerm("A2", "dizzy")


@pytest.fixture
def table(tmp_path):
    def write(text, name="terms.csv"):
        (tmp_path / name).write_text(text, encoding="utf8")
        return tmp_path / name

    return write


@pytest.fixture
def book(tmp_path):
    def write(**sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / "terms.xlsx")
        return tmp_path / "terms.xlsx"

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
    with pytest.raises(ConnormError, match="CN114.*Id;x, Name, n.*`--term`"):
        read_terms(path)
    with pytest.raises(ConnormError, match="CN114.*'why'"):
        read_terms(path, code="Id;x", term="Name", context="why")


@pytest.mark.parametrize("name", ["terms.txt", "terms.csv", "terms.tsv"])
@pytest.mark.parametrize("header", ["", "term\n"])
def test_a_list_of_terms(table, name, header):
    path = table(f"{header}dizzy\n\n the  cold\ndizzy\n", name)
    dizzy = LocalTerm("dizzy", "dizzy")
    assert read_terms(path) == [dizzy, LocalTerm("the cold", "the cold"), dizzy]


def test_a_list_has_terms_with_any_signs(table):
    path = table('12" scar\npain, chest\n"cold; flu\n', "terms.txt")
    assert [term.term for term in read_terms(path)] == ['12" scar', "pain, chest", '"cold; flu']


def test_a_table_without_codes(table, book):
    expected = [LocalTerm("dizzy", "dizzy", count=3)]
    path = table("count,Name\n3,dizzy\n")
    assert read_terms(path, term="Name") == expected
    assert read_terms(book(first=[["dizzy"]])) == [LocalTerm("dizzy", "dizzy")]
    with pytest.raises(ConnormError, match="CN114.*'id'"):
        read_terms(path, term="Name", code="id")


def test_columns_that_may_have_the_codes_are_named(table):
    expected = [LocalTerm("dizzy", "dizzy", count=3)]
    path = table("id,term,,count,note\nA2,dizzy,,3,x\n")
    with pytest.warns(ConnormWarning, match=r"CNW781.*'code'.*: id, note\..*`--code`"):
        assert read_terms(path) == expected
    assert read_terms(path, code="id") == [LocalTerm("A2", "dizzy", count=3)]


def test_terms_are_read_from_a_sheet_of_a_workbook(book):
    header = ["code", "term", "context", "count", "since"]
    rows = [header, ["A1", "the cold", "since a week", 1234.0, date(2026, 1, 1)], [250.0, "fever"]]
    path = book(first=rows, second=[["code", "term"], ["A2", "dizzy"]])
    assert read_terms(path) == [COLD, LocalTerm("250", "fever")]
    assert read_terms(path, sheet="second") == [DIZZY]
    with pytest.raises(ConnormError, match="CN114.*'third'.*first, second"):
        read_terms(path, sheet="third")


def test_cells_beside_the_table_of_a_book_are_ignored(book):
    assert read_terms(book(first=[["code", "term"], ["A2", "dizzy", "ask Ann"]])) == [DIZZY]


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
        ("terms.csv", "code,term\n", "CN104.*both"),
        ("terms.csv", "term\n", "CN104.*no terms"),
        ("terms.csv", "code\nA\n", "CN114.*'term'"),
        ("terms.txt", "cold\nA\tflu\n", "CN115.*line 2"),
        ("terms.csv", "", "CN114"),
        ("terms.csv", 'code,term\nA,"b', "CN115"),
        ("terms.csv", "code,term\nA,b\nB,pain, chest\n", "CN115.*line 3.*quotation marks"),
        ("terms.pdf", "code,term\n", "CN708"),
        ("terms.xlsx", "code,term\n", "CN220"),
    ],
)
def test_files_that_are_not_tables_of_terms_are_refused(table, name, content, code):
    with pytest.raises(ConnormError, match=code):
        read_terms(table(content, name))


def test_a_delimiter_of_a_book(book):
    with pytest.raises(ConnormError, match="CN733.*--delimiter"):
        read_terms(book(first=[["code", "term"]]), delimiter=";")


def test_a_sheet_of_no_book(table, tmp_path):
    with pytest.raises(ConnormError, match="CN733"):
        read_terms(table("code,term\nA,b\n"), sheet="first")
    with pytest.raises(ConnormError, match="CN100"):
        read_terms(tmp_path / "none.xlsx")
    with pytest.raises(ConnormError, match="CN105"):
        (tmp_path / "folder.xlsx").mkdir()
        read_terms(tmp_path / "folder.xlsx")


def test_a_damaged_workbook_is_refused(book):
    path = book(first=[["code", "term"], *([["A", "b"]] * 100)])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ConnormError, match="CN220"):
        read_terms(path)


def test_without_openpyxl(book, monkeypatch):
    path = book(first=[["code", "term"], ["A", "b"]])
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=r"CN126.*spacy-connorm\[map\]"):
        read_terms(path)


def found(nlp, *terms, **limits):
    normalizer = nlp.get_pipe("concept_normalizer")
    with patch("spacy_connorm.workflows.terms._AT_ONCE", 2):
        return list(find_candidates(nlp, normalizer, terms, **limits))


def test_answers_are_those_of_the_pipeline(pipeline):
    terms = ["heart attack", "", "aspirin", "cold"]
    normalizer = pipeline.get_pipe("concept_normalizer")
    answers = found(pipeline, *(LocalTerm("1", term) for term in terms))
    assert answers == normalizer.candidates(terms)
    (limited,) = found(pipeline, LocalTerm("1", "cold"), top_k=1, types=["Phenomenon"])
    assert [candidate.concept_id for candidate in limited] == ["C4"]


def test_a_term_is_one_concept(make_pipeline):
    nlp = make_pipeline(split_composites=True)
    term = "heart attack and common cold"
    assert {
        candidates.part for candidates in nlp.get_pipe("concept_normalizer").candidates([term])[0]
    } == {
        1,
        2,
    }
    (answer,) = found(nlp, LocalTerm("1", term))
    assert {each.part for each in answer} == {0}


def test_the_text_around_a_term_tells_what_it_stands_for(make_pipeline):
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer")
    context = "Had a common cold (CC). Seen for cc."
    terms = [
        LocalTerm("1", "CC"),
        LocalTerm("2", "CC", context),
        LocalTerm("3", "aspirin", context),
    ]
    without, within, beside = found(nlp, *terms)
    assert within[0].concept_id == "C3" and within[0].searched == "common cold"
    assert without[0].probability < within[0].probability
    assert beside[0].concept_id == "C6"


def test_a_term_alone_has_the_short_forms_of_the_pipeline(make_pipeline):
    nlp = make_pipeline()
    table = {"short_forms": {"CCD": "common cold"}}
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer", config=table)
    ((best, *_), *_) = found(nlp, LocalTerm("1", "CCD"), LocalTerm("2", "aspirin"))
    assert best.concept_id == "C3" and best.searched == "common cold"


@pytest.mark.parametrize(
    "context", ["Common cold (CC). CC, accused", "Common cold (CC). CCs, ACC."]
)
def test_a_term_is_not_found_inside_another_word(make_pipeline, monkeypatch, context):
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer")
    asked = []

    def record(spans):
        asked.extend(span.text for span in spans)
        return long_forms_of(spans)

    monkeypatch.setattr(local_terms, "long_forms_of", record)
    (answer,) = found(nlp, LocalTerm("1", "cc", context))
    assert asked == ["CC"] and answer[0].searched == "Common cold"


def test_a_term_that_is_only_inside_another_word_is_put_after_the_text(pipeline, monkeypatch):
    asked = []

    def record(spans):
        asked.extend(span.doc.text for span in spans)
        return long_forms_of(spans)

    monkeypatch.setattr(local_terms, "long_forms_of", record)
    found(pipeline, LocalTerm("1", "cold", "He scolded and was cold-blooded"))
    found(pipeline, LocalTerm("1", "cold", "He scolded."))
    assert asked == ["He scolded and was cold-blooded", "He scolded.\ncold"]


def test_an_odd_context_leaves_the_answer_as_it_is(pipeline, odd_text):
    from spacy_connorm.text.cleaning import clean

    (answer,) = found(pipeline, LocalTerm("1", "aspirin", clean(odd_text)))
    assert answer[0].concept_id == "C6"


def test_a_context_that_is_too_long(pipeline):
    pipeline.max_length = 20
    with pytest.raises(ConnormError, match="CN709"):
        found(pipeline, LocalTerm("1", "aspirin", "a" * 20))
