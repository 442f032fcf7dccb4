"""Of a batch of texts, one may fail."""

import json
import pickle

import pandas
import pyarrow
import pytest
from troublesome import Troublesome

from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import CorpusAnnotator
from spacy_connorm.workflows.corpus_annotator import corpus_schema
from spacy_connorm.workflows.texts import InputText

from .conftest import TEXTS


def make_texts(*texts):
    return [
        InputText(f"note {number}", text, {"ward": "B"}, f"line {number}")
        for number, text in enumerate(texts, start=1)
    ]


@pytest.fixture
def annotator(saved_pipeline):
    return CorpusAnnotator(str(saved_pipeline), batch_size=2)


def test_rows_have_mentions(annotator):
    rows = annotator.annotate(make_texts(*TEXTS))
    assert [[mention["kb_id"] for mention in row["mentions"]] for row in rows] == [
        ["C6", "C3"],
        ["C2", "C2"],
        [],
    ]
    assert [row["doc_id"] for row in rows] == ["note 1", "note 2", "note 3"]
    assert [row["text"] for row in rows] == list(TEXTS)
    assert {row["error"] for row in rows} == {None}
    assert json.loads(rows[0]["fields"]) == {"ward": "B"}
    pyarrow.Table.from_pylist(rows, schema=corpus_schema())


def test_a_text_that_fails_is_recorded_and_the_others_are_not_harmed(annotator, monkeypatch):
    monkeypatch.delenv("SPACY_CONNORM_SHOW_TEXT", raising=False)
    texts = make_texts(TEXTS[0], "FAIL here", TEXTS[1])
    # What other readers take for the end of a line is written as everywhere.
    texts[1] = texts[1]._replace(fields={"ward": "B\u2028"})
    unread = InputText("note 4", None, {}, "line 4", "no text")
    first, second, third, fourth = annotator.annotate([*texts, unread])
    assert [first, third] == annotator.annotate([texts[0], texts[2]])
    assert second["fields"] == '{"ward": "B\\u2028"}'
    assert (second["mentions"], second["error"], second["text"]) == (
        None,
        "RuntimeError",
        "FAIL here",
    )
    assert (fourth["text"], fourth["mentions"], fourth["error"]) == (None, None, "no text")
    monkeypatch.setenv("SPACY_CONNORM_SHOW_TEXT", "1")
    (shown,) = annotator.annotate(texts[1:2])
    assert shown["error"] == "RuntimeError('no such text: FAIL here')"


def test_a_text_that_is_too_long_is_recorded(annotator):
    nlp, _ = annotator.load()
    nlp.max_length = 20
    first, second = annotator.annotate(make_texts(TEXTS[0], "A cold."))
    assert first["error"].startswith("[CN709] line 1: 24 characters")
    assert second["mentions"][0]["kb_id"] == "C3"


def test_a_document_that_the_pipeline_drops_is_recorded(annotator):
    nlp, _ = annotator.load()
    nlp.set_error_handler(lambda name, pipe, docs, error: None)
    first, second = annotator.annotate(make_texts("FAIL here", "A cold."))
    assert first["error"] == "the pipeline did not return a document"
    assert second["mentions"][0]["kb_id"] == "C3"


@pytest.mark.parametrize("error", [ConnormError("of the pipeline"), OSError(), MemoryError()])
def test_what_is_not_about_a_text_ends_the_run(annotator, monkeypatch, error):
    def fail(self, doc):
        raise error

    annotator.load()
    monkeypatch.setattr(Troublesome, "__call__", fail)
    with pytest.raises(type(error)):
        annotator.annotate(make_texts("A cold."))


def test_the_vocabulary_does_not_grow(annotator, monkeypatch):
    monkeypatch.setattr("spacy_connorm.workflows.memory_zones._KEPT_WORDS", 0)
    nlp, _ = annotator.load()
    annotator.annotate(make_texts("A cold."))
    before = set(nlp.vocab.strings)
    annotator.annotate(make_texts("Unheard of words: abracadabra, hocuspocus."))
    assert set(nlp.vocab.strings) == before


def test_a_copy_loads_its_own_pipeline(annotator):
    annotator.load()
    copy = pickle.loads(pickle.dumps(annotator))
    assert len(pickle.dumps(annotator)) < 1_000
    assert copy.annotate(make_texts(*TEXTS)) == annotator.annotate(make_texts(*TEXTS))


def test_the_pipeline_must_be_there(tmp_path):
    with pytest.raises(ConnormError, match="CN700"):
        CorpusAnnotator(str(tmp_path / "none")).load()


def test_tables_of_pandas_are_annotated_one_by_one(saved_pipeline):
    day = pandas.Timestamp("2024-05-31")
    tables = iter(
        [
            pandas.DataFrame({"key": ["a", "b"], "note": [TEXTS[0], None], "day": [day, None]}),
            pandas.DataFrame({"key": [], "note": [], "day": []}),
            pandas.DataFrame({"key": [7], "note": ["FAIL"], "day": [day]}, index=[42]),
        ]
    )
    annotator = CorpusAnnotator(str(saved_pipeline), text_field="note", id_field="key")
    annotator = pickle.loads(pickle.dumps(annotator))
    first, empty, last = map(annotator, tables)
    assert list(first.doc_id) == ["a", "b"] and list(last.doc_id) == ["7"]
    assert [mention["kb_id"] for mention in first.mentions[0]] == ["C6", "C3"]
    assert json.loads(first.fields[0]) == {"key": "a", "day": "2024-05-31 00:00:00"}
    assert pandas.isna(first.error[0]) and first.error[1].startswith("[CN707] 'table', row 2")
    assert list(last.error) == ["RuntimeError"] and last.mentions[0] is None
    assert list(empty.columns) == corpus_schema().names and empty.empty
    # As Spark does, with the schema that it was told.
    for table in (first, empty, last):
        pyarrow.Table.from_pandas(table, schema=corpus_schema(), preserve_index=False)


def test_a_table_without_texts_is_refused(annotator):
    with pytest.raises(ConnormError, match=r"CN114.*'text'.*note"):
        annotator(pandas.DataFrame({"note": ["A cold."]}))
    with pytest.raises(ConnormError, match=r"CN125.*'table'.*'text'"):
        annotator(pandas.DataFrame([["A cold.", "Fever."]], columns=["text", "text"]))
