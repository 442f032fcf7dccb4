import json

import pyarrow
import pyarrow.parquet as pq
import pytest

from spacy_connorm.concepts import Candidate
from spacy_connorm.documents import export_docs
from spacy_connorm.documents.document import set_other_fields
from spacy_connorm.errors import ConnormError

from .conftest import CKD, FIELDS, FOUND, TEXT, annotate


def test_each_text_is_a_line_with_all_its_fields(export):
    first, second, _ = (
        json.loads(line) for line in export("a.jsonl").read_text(encoding="utf8").splitlines()
    )
    assert second == {"text": "Nothing here.", "ents": []}
    assert {key: first[key] for key in FIELDS} == FIELDS
    assert first["text"] == TEXT and [row["text"] for row in first["ents"]] == list(FOUND)


@pytest.mark.parametrize("field", ["text", "ents"])
def test_a_field_that_would_be_lost_is_refused(docs, tmp_path, field):
    set_other_fields(docs[1], {field: "mine"})
    with pytest.raises(ConnormError, match=f"CN774.*number 2.*'{field}'"):
        export_docs(docs, tmp_path / "a.jsonl")


def test_every_text_is_a_row_with_types(export, documents):
    table = pq.read_table(export("found.parquet"))
    mentions = table.schema.field("mentions").type.value_type
    assert mentions.field("start").type == pyarrow.int32()
    first, second, third = table.to_pylist()
    assert (first["doc_id"], first["text"]) == ("note 7|a", TEXT)
    assert json.loads(first["fields"]) == documents[0].fields
    assert [second["mentions"], third["text"]] == [[], ""]
    for found, mention in zip(first["mentions"], documents[0].mentions, strict=True):
        assert (found["start"], found["end"]) == mention.extent
        assert found["fragments"] == [dict(zip(("start", "end"), mention.extent, strict=True))]
        assert (found["long_form"] or "") == mention.long_form
        assert (found["label"], found["kb_id"]) == FOUND[found["text"]][:2]
        assert tuple(map(candidate, found["candidates"])) == mention.candidates


def candidate(record):
    codes = record["codes"] and {key: list(each) for key, each in record["codes"]}
    return Candidate(**{**record, "codes": codes})


def test_codes_are_a_map(tmp_path):
    coded = CKD._replace(codes={"ICD10CM": ["N18", "N18.9"], "OMIM": []})
    doc = annotate("CKD", {"CKD": ("D", "D051436", [coded])}, {})
    export_docs([doc], tmp_path / "a.parquet", spans_key="sc")
    (row,) = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert candidate(row["mentions"][0]["candidates"][0]) == coded


def test_rows_are_written_in_groups(docs, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_connorm.documents.records._ROWS", 2)
    export_docs(docs, tmp_path / "a.parquet", spans_key="sc")
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 2
    assert export_docs([], tmp_path / "none.parquet") == 0
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


def test_the_extra_is_named(docs, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=r"CN126.*'pyarrow'.*\[parquet\]"):
        export_docs(docs, tmp_path / "a.parquet")
