"""A Ray cluster annotates the files of a corpus."""

import signal
import sys

import pytest

from spacy_connorm import annotate_corpus
from spacy_connorm.errors import ConnormError, ConnormWarning

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
    assert {"reached-NODE", "reached-KILL"} <= {path.name for path in tmp_path.iterdir()}
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
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Ray has a handler of its own
        raise ConnectionError(f"nobody at {options['address']}")

    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setenv("RAY_ADDRESS", variable)
    with pytest.raises(ConnormError, match=rf"CN798.*nobody at {called}"):
        annotate_corpus(saved_pipeline, corpus, tmp_path / "out", engine="ray", ray_address=given)
    assert signal.getsignal(signal.SIGTERM) is handler
