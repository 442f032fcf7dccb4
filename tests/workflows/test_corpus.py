import json
import os
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from troublesome import python_path

from spacy_connorm import annotate_corpus
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.folders import read_manifest, unseal
from spacy_connorm.workflows import fragments


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
    assert [row["kb_id"] for row in first["mentions"]] == ["C6", "C3"]
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
    with pytest.warns(ConnormWarning, match=r"CNW790.*mentions: 1.*'c\.parquet:1': RuntimeError"):
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
    assert unseal(done.path, whole=True)["files"].keys() == {*before, "c.parquet"} - {
        "manifest.json"
    }


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
