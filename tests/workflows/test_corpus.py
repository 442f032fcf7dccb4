import json
import os
import pickle
import signal
import subprocess
import sys

import pandas
import pyarrow
import pyarrow.parquet as pq
import pytest
from troublesome import Troublesome, python_path

from spacy_connorm import annotate_corpus
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.folders import read_manifest, unseal_whole
from spacy_connorm.workflows import CorpusAnnotator, fragments
from spacy_connorm.workflows.corpus import corpus_schema
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
    assert [[each["kb_id"] for each in row["mentions"]] for row in rows] == [
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
    unread = InputText("note 4", None, {}, "line 4", "no text")
    first, second, third, fourth = annotator.annotate([*texts, unread])
    assert [first, third] == annotator.annotate([texts[0], texts[2]])
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
    assert [each["kb_id"] for each in first.mentions[0]] == ["C6", "C3"]
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


def test_the_manifest_lists_every_file(annotated):
    done = annotated()
    manifest = unseal_whole(done.path)
    assert manifest["files"].keys() == {"a.parquet", "year=2024/b.parquet"}
    assert manifest["counts"]["mentions"] == 5
    assert (manifest["text_field"], manifest["id_field"]) == ("text", "id")


def test_other_output_is_left_alone(annotated, corpus, saved_pipeline, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConnormError, match="CN705"):
        annotated("file")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(ConnormError, match="CN705"):
        annotated()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "a.parquet").write_bytes((corpus / "a.parquet").read_bytes())
    with pytest.raises(ConnormError, match="CN705"):
        annotated("copy")


def test_output_of_something_else_is_refused(
    annotated, corpus, saved_pipeline, write_parquet, tmp_path
):
    annotated()
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in id_field"):
        annotated(id_field="ward")
    changed = saved_pipeline / "meta.json"
    changed.write_text(changed.read_text(encoding="utf8") + "\n", encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in pipeline"):
        annotated()
    changed.write_text(changed.read_text(encoding="utf8")[:-1], encoding="utf8")
    annotated()
    write_parquet("a.parquet", [{"text": "Another."}])
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in input"):
        annotated()
    (corpus / "a.parquet").unlink()
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in input"):
        annotated()


def rows(path):
    return pq.ParquetFile(path).read().to_pylist()


def test_every_fragment_has_its_output(annotated, tmp_path, capsys):
    done = annotated()
    assert capsys.readouterr() == ("", "")
    assert (done.path, done.fragments, done.earlier) == (tmp_path / "out", 2, 0)
    counts = done.counts
    assert (counts.texts, counts.mentions, counts.linked, counts.failed) == (4, 5, 5, 0)
    first, *_ = rows(done.path / "a.parquet")
    assert (first["doc_id"], first["text"]) == ("1", "Took aspirin for a cold.")
    assert [each["kb_id"] for each in first["mentions"]] == ["C6", "C3"]
    assert json.loads(first["fields"]) == {"id": 1, "ward": "B"}
    (other,) = rows(done.path / "year=2024" / "b.parquet")
    assert other["doc_id"] == "7" and other["error"] is None


def test_processes_write_the_same_bytes(annotated, contents, monkeypatch):
    monkeypatch.setattr(fragments, "_ROWS", 2)
    one, two = annotated("one"), annotated("two", n_process=2)
    assert one.counts == two.counts
    assert contents(one.path) == contents(two.path)


def test_lines_are_read_too(saved_pipeline, write_jsonl, tmp_path):
    write_jsonl("a.jsonl", {"note": "A cold.", "key": "x1"})
    write_jsonl("b.jsonl")
    done = annotate_corpus(
        saved_pipeline, tmp_path / "corpus", tmp_path / "out", text_field="note", id_field="key"
    )
    (row,) = rows(done.path / "a.jsonl.parquet")
    assert (row["doc_id"], row["text"]) == ("x1", "A cold.")
    assert rows(done.path / "b.jsonl.parquet") == []


def test_a_failure_is_recorded_and_told(annotated, write_parquet):
    write_parquet("c.parquet", [{"text": "FAIL"}, {"text": "A cold."}])
    with pytest.warns(ConnormWarning, match=r"CNW790.*1 texts.*'c\.parquet:1': RuntimeError"):
        done = annotated()
    assert (done.counts.texts, done.counts.failed) == (6, 1)
    failed, fine = rows(done.path / "c.parquet")
    assert (failed["mentions"], failed["error"]) == (None, "RuntimeError")
    assert fine["mentions"] and fine["error"] is None
    with pytest.warns(ConnormWarning, match="CNW790"):
        assert annotated().counts == done.counts


def test_a_corpus_without_mentions_is_told(annotated, corpus, write_parquet):
    for path in [*corpus.rglob("*.parquet")]:
        path.unlink()
    write_parquet("a.parquet", [{"text": "Nothing."}])
    with pytest.warns(ConnormWarning, match="CNW701"):
        annotated()


def test_what_is_written_is_not_done_again(annotated, contents, write_parquet, monkeypatch):
    done = annotated()
    before = contents(done.path)
    monkeypatch.setattr("spacy_connorm.workflows.corpus._annotate_locally", None)
    again = annotated()
    assert (again.earlier, again.counts) == (2, done.counts)
    assert contents(done.path) == before
    monkeypatch.undo()
    write_parquet("c.parquet", [{"text": "A cold."}])
    more = annotated()
    assert (more.fragments, more.earlier, more.counts.texts) == (3, 2, 5)
    assert unseal_whole(done.path)["files"].keys() == {*before, "c.parquet"} - {"manifest.json"}


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_killed_run_goes_on(
    saved_pipeline, annotated, contents, write_parquet, tmp_path, without_torch, processes
):
    write_parquet("c.parquet", [{"text": "A cold."}, {"text": "KILL, and a heart attack."}])
    write_parquet("d.parquet", [{"text": "Aspirin."}])
    out = tmp_path / "out"
    script = (
        "from spacy_connorm import annotate_corpus; "
        f"annotate_corpus({str(saved_pipeline)!r}, {str(tmp_path / 'corpus')!r}, {str(out)!r}, "
        f"n_process={processes})"
    )
    path = (python_path(tmp_path / "found"), without_torch["PYTHONPATH"])
    killed = subprocess.run(
        [sys.executable, "-c", script],
        env={**without_torch, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
    )
    if processes == 1:
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    else:
        assert "[CN716]" in killed.stderr
    left = contents(out)
    assert not {"c.parquet", "d.parquet", "manifest.json"} & left.keys()
    # One process has written what comes before; of two, one may die meanwhile.
    assert processes == 2 or "a.parquet" in left
    done, whole = annotated(), annotated("whole", n_process=1)
    assert contents(out) == contents(whole.path)
    assert done.counts == whole.counts


def test_output_and_input_are_apart(annotated, saved_pipeline, corpus, tmp_path):
    with pytest.raises(ConnormError, match=r"CN121.*new.*extend the input"):
        annotated("corpus/new")
    for out in (corpus, tmp_path):
        with pytest.raises(ConnormError, match="CN121"):
            annotate_corpus(saved_pipeline, corpus, out)
    with pytest.raises(ConnormError, match="CN121"):
        annotate_corpus(saved_pipeline, corpus / "a.parquet", corpus)


def test_wrong_settings_are_refused(annotated, corpus):
    for options, code in (
        ({"engine": "spark"}, "CN118.*local"),
        ({"n_process": 0}, "CN006.*n_process"),
        ({"batch_size": 0}, "CN006.*batch_size"),
        ({"component": "other"}, "CN704"),
        ({"text_field": "note"}, "CN114"),
    ):
        with pytest.raises(ConnormError, match=code):
            annotated(**options)
    assert read_manifest(annotated().path)["component"] is None


# On a cluster of two nodes, both of them on this machine. That takes minutes where other tests run
# beside it, so `make faults` does it.
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="Ray has several nodes on one machine on Linux only"
)


@on_linux
@pytest.mark.long
def test_a_node_and_an_actor_may_be_lost(
    cluster, save_troublesome, write_parquet, tmp_path, contents, monkeypatch
):
    saved = save_troublesome(spared=cluster.head_node.node_id)
    write_parquet("a.parquet", [{"text": "NODE with a cold."}, {"text": "Aspirin."}])
    write_parquet("b.parquet", [{"text": "NODE without."}, {"text": "FAIL"}])
    write_parquet("c.parquet", [{"text": "A heart attack. KILL."}, {"text": None}])
    write_parquet("d.parquet", [{"text": "Aspirin for a cold."}] * 3)
    corpus = tmp_path / "corpus"
    monkeypatch.chdir(tmp_path)
    with pytest.warns(ConnormWarning, match="CNW790"):
        done = annotate_corpus("pipeline", "corpus", "ray", engine="ray", n_process=2)
    assert {"reached-NODE", "reached-KILL"} <= {each.name for each in tmp_path.iterdir()}
    with pytest.warns(ConnormWarning, match="CNW790"):
        alone = annotate_corpus(saved, corpus, tmp_path / "alone")
    assert done.counts == alone.counts
    assert contents(done.path) == contents(alone.path)


@on_linux
@pytest.mark.long
def test_what_ends_an_actor_ends_the_run(cluster, saved_pipeline, corpus, write_parquet, tmp_path):
    def run(**options):
        annotate_corpus(saved_pipeline, corpus, tmp_path / "out", engine="ray", **options)

    with pytest.raises(ConnormError, match=r"CN704.*'other'"):
        run(component="other")
    write_parquet("z.parquet", [{"text": "MEMORY"}])
    with pytest.raises(ConnormError, match=r"CN799.*MemoryError"):
        run()
    write_parquet("z.parquet", [{"text": "Nothing."}])
    run(n_process=-1)


@on_linux
def test_ray_must_be_there(saved_pipeline, corpus, tmp_path, monkeypatch):
    def run(**options):
        annotate_corpus(saved_pipeline, corpus, tmp_path / "out", **options)

    with pytest.raises(ConnormError, match="CN733.*--ray-address"):
        run(ray_address="auto")
    monkeypatch.setattr(
        "spacy_connorm.errors.find_spec", lambda name: None if name == "ray" else name
    )
    with pytest.raises(ConnormError, match=r"CN126.*\[ray\]"):
        run(engine="ray")


# Ray's own choice would be any cluster that was started on this machine.
@on_linux
@pytest.mark.parametrize(
    ("given", "variable", "called"),
    [("here:1", "there:2", "here:1"), (None, "there:2", "there:2"), (None, "", "local")],
)
def test_the_cluster_must_be_there(
    saved_pipeline, corpus, tmp_path, monkeypatch, given, variable, called
):
    import ray

    def fail(**options):
        raise ConnectionError(f"nobody at {options['address']}")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setenv("RAY_ADDRESS", variable)
    with pytest.raises(ConnormError, match=rf"CN798.*nobody at {called}"):
        annotate_corpus(saved_pipeline, corpus, tmp_path / "out", engine="ray", ray_address=given)
