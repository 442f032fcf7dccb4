"""A saved pipeline with a component that fails on demand, and corpora of a few texts."""

import json

import pyarrow
import pyarrow.parquet as pq
import pytest
from correcting import answers, correct, corrected, path, resolving  # noqa: F401
from troublesome import python_path

from spacy_connorm import annotate_corpus

TEXTS = ("Took aspirin for a cold.", "A heart attack, or MI.", "Nothing to find, 😀 at all.")
NODE = {"num_cpus": 1, "object_store_memory": 80 * 1024**2, "include_dashboard": False}


@pytest.fixture
def save_troublesome(pipeline, tmp_path):
    """A function that saves a pipeline with `troublesome` and gives its folder."""

    def save(**settings):
        settings = {"folder": str(tmp_path), **settings}
        pipeline.add_pipe("troublesome", first=True, config=settings)
        pipeline.to_disk(tmp_path / "pipeline")
        return tmp_path / "pipeline"

    return save


@pytest.fixture
def saved_pipeline(save_troublesome):
    return save_troublesome()


@pytest.fixture
def write_parquet(tmp_path):
    """A function that writes rows to a Parquet file of the corpus."""

    def write(name, rows, schema=None):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path)
        return path

    return write


@pytest.fixture
def write_jsonl(tmp_path):
    """A function that writes lines to a file of the corpus."""

    def write(name, *lines):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shown = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(shown) + "\n", encoding="utf8")
        return path

    return write


@pytest.fixture
def corpus(write_parquet, tmp_path):
    """A folder with two fragments and what is passed over."""
    rows = [{"id": number, "text": text, "ward": "B"} for number, text in enumerate(TEXTS, 1)]
    write_parquet("a.parquet", rows)
    write_parquet("year=2024/b.parquet", [{"id": 7, "text": "Just a cold.", "ward": None}])
    (tmp_path / "corpus" / "_SUCCESS").touch()
    (tmp_path / "corpus" / ".crc").touch()
    return tmp_path / "corpus"


@pytest.fixture
def annotated(saved_pipeline, corpus, tmp_path):
    """A function that annotates the corpus into a folder."""

    def run(name="out", **options):
        return annotate_corpus(saved_pipeline, corpus, tmp_path / name, **options)

    return run


@pytest.fixture
def contents():
    """A function that reads all files of a folder."""

    def read(folder):
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    return read


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two nodes with one core each; this process is on the first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path(tmp_path_factory.mktemp("found")))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_health_check_period_ms", "500")
        # Ray's own is 15: beside other tests, its workers would hardly ever run.
        patch.setenv("RAY_worker_niceness", "0")
        import ray
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args=NODE)
        try:
            cluster.add_node(**NODE)
            ray.init(address=cluster.address, log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
