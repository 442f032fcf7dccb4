import gzip
from datetime import date

import pyarrow
import pyarrow.parquet
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import fragments
from spacy_connorm.workflows.fragments import find_fragments, read_text_batches, require_fields

FIELDS = ("text", "id")


def read(fragment, fields=FIELDS):
    return [text for batch in read_text_batches(fragment, *fields) for text in batch]


def test_fragments_are_files_in_any_subfolder(corpus):
    fragments = find_fragments(corpus)
    assert [fragment.name for fragment in fragments] == ["a.parquet", "year=2024/b.parquet"]
    assert [fragment.output_name for fragment in fragments] == [
        fragment.name for fragment in fragments
    ]
    assert [fragment.name for fragment in find_fragments(corpus / "a.parquet")] == ["a.parquet"]


def test_lines_have_outputs_of_their_own(write_jsonl, tmp_path):
    write_jsonl("a.jsonl", {"text": "x"})
    (tmp_path / "corpus" / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "y"}\n'))
    fragments = find_fragments(tmp_path / "corpus")
    assert [fragment.output_name for fragment in fragments] == [
        "a.jsonl.parquet",
        "a.jsonl.gz.parquet",
    ]
    assert [read(fragment)[0].text for fragment in fragments] == ["x", "y"]


def test_other_files_are_refused(corpus, tmp_path, monkeypatch):
    (corpus / "notes.jsonl").write_text("{}")
    with pytest.raises(ConnormError, match=r"CN791.*notes\.jsonl.*'a\.parquet'.*`_`"):
        find_fragments(corpus)
    with pytest.raises(ConnormError, match=r"CN708.*read.*\.parquet, \.jsonl or \.jsonl\.gz"):
        find_fragments(corpus / "_SUCCESS")
    with pytest.raises(ConnormError, match="CN100"):
        find_fragments(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConnormError, match="CN104"):
        find_fragments(tmp_path / "empty")
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match="CN126"):
        find_fragments(corpus)


def test_columns_are_checked_before_they_are_read(corpus, write_parquet):
    fragments = find_fragments(corpus)
    assert require_fields(fragments, *FIELDS) == 4
    with pytest.raises(ConnormError, match=r"CN114.*'note'.*id, text, ward"):
        require_fields(fragments, "note", "id")
    with pytest.raises(ConnormError, match=r"CN114.*'note_id'"):
        require_fields(fragments, "text", "note_id")
    with pytest.raises(ConnormError, match=r"CN793.*'id'.*int64.*texts"):
        require_fields(fragments, "id", "id")
    odd = write_parquet("odd.parquet", [{"text": "x", "id": 0.5}])
    with pytest.raises(ConnormError, match=r"CN793.*'id'.*double.*whole numbers"):
        require_fields(find_fragments(odd), *FIELDS)


def test_columns_of_the_same_name_are_refused(write_parquet):
    path = write_parquet("a.parquet", [{"text": "x"}])
    table = pyarrow.table([["x"], [1], [2]], names=["text", "nr", "nr"])
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(ConnormError, match=r"CN125.*a\.parquet.*'nr'"):
        require_fields(find_fragments(path), *FIELDS)


def test_columns_may_be_of_any_type_of_text(write_parquet):
    schema = pyarrow.schema(
        [
            ("text", pyarrow.large_string()),
            ("id", pyarrow.dictionary(pyarrow.int8(), pyarrow.string())),
        ]
    )
    path = write_parquet("a.parquet", [{"text": "x", "id": "note 7"}], schema)
    (fragment,) = find_fragments(path)
    assert require_fields([fragment], *FIELDS) == 1
    (text,) = read(fragment)
    assert (text.doc_id, text.text) == ("note 7", "x")


def test_files_that_are_not_parquet_are_refused(corpus, tmp_path):
    path = corpus / "a.parquet"
    whole = path.read_bytes()
    (fragment,) = find_fragments(path)
    path.write_bytes(b"PAR1, or not")
    with pytest.raises(ConnormError, match=r"CN220.*a\.parquet.*Parquet"):
        require_fields([fragment], *FIELDS)
    # Its footer is whole, the rows are not.
    path.write_bytes(whole[:4] + bytes(len(whole) // 4) + whole[4 + len(whole) // 4 :])
    require_fields([fragment], *FIELDS)
    with pytest.raises(ConnormError, match="CN220"):
        read(fragment)


def test_rows_keep_their_other_columns(write_parquet):
    rows = [{"text": "x", "day": date(2024, 5, 31), "n": 1.5}, {"text": None, "day": None, "n": 2}]
    first, second = read(find_fragments(write_parquet("a.parquet", rows))[0])
    assert (first.doc_id, first.text) == ("a.parquet:1", "x")
    assert first.fields == {"day": "2024-05-31", "n": 1.5}
    assert second.text is None and second.fields == {"day": None, "n": 2.0}
    assert second.error.startswith("[CN707] 'a.parquet', row 2: expected a string `text`, found no")


def test_numbers_that_are_not_finite_become_null(write_parquet):
    odd = [float("nan"), float("inf"), -float("inf"), 0.5]
    row = {"text": "NaN", "weight": odd[0], "more": {"list": odd}}
    (fragment,) = find_fragments(write_parquet("a.parquet", [row]))
    (found,) = read(fragment)
    assert found.text == "NaN"
    assert found.fields == {"weight": None, "more": {"list": [None, None, None, 0.5]}}


def test_broken_lines_are_told_apart(write_jsonl):
    path = write_jsonl("a.jsonl", {"note": "x", "key": 3}, "", "{", {"note": "\ud800y"})
    (fragment,) = find_fragments(path)
    fields = ("note", "key")
    assert require_fields([fragment], *fields) is None
    first, second, third = read(fragment, fields)
    assert (first.doc_id, first.text, first.fields) == ("3", "x", {"key": 3})
    assert second.doc_id == "a.jsonl:3"
    assert second.error.startswith("[CN707] 'a.jsonl', line 3")
    assert (third.doc_id, third.text) == ("a.jsonl:4", "\ufffdy")
    with pytest.raises(ConnormError, match=r"CN707.*a\.jsonl', line 1.*`text`"):
        require_fields([fragment], *FIELDS)
    with pytest.raises(ConnormError, match=r"CN720.*a\.jsonl', line 1.*'nr'.*key"):
        require_fields([fragment], "note", "nr")


def test_lines_without_a_text_keep_their_other_fields(write_jsonl):
    lines = ({"text": "x"}, {"id": 5, "ward": "A"}, {"text": None, "id": "b"}, {"text": 1}, "[1]")
    (fragment,) = find_fragments(write_jsonl("a.jsonl", *lines))
    _, *failed = read(fragment)
    assert [(row.doc_id, row.fields) for row in failed] == [
        ("5", {"id": 5, "ward": "A"}),
        ("b", {"id": "b"}),
        ("a.jsonl:4", {}),
        ("a.jsonl:5", {}),
    ]
    assert all(row.text is None and row.error.startswith("[CN707]") for row in failed)


def test_batches_are_bounded(write_jsonl, monkeypatch):
    monkeypatch.setattr(fragments, "_ROWS", 3)
    monkeypatch.setattr(fragments, "_CHARACTERS", 10)
    lines = [{"text": "x" * length} for length in (1, 1, 1, 1, 20, 9, 1, 1)]
    (fragment,) = find_fragments(write_jsonl("a.jsonl", *lines))
    lengths = [[len(text.text) for text in batch] for batch in read_text_batches(fragment, *FIELDS)]
    assert lengths == [[1, 1, 1], [1], [20], [9, 1], [1]]
    (fragment,) = find_fragments(write_jsonl("none.jsonl"))
    assert list(read_text_batches(fragment, *FIELDS)) == []
