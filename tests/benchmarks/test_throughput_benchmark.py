"""What the benchmark of throughput promises, on data of a few lines; no time is looked at."""

import pytest

STEPS = ["none", "abbreviations", "abbreviations, composites"]


@pytest.fixture
def measure(rows_of, data):
    def invoke(*arguments):
        return rows_of("throughput.py", "--data", data, "--dataset", "ncbi", *arguments)

    return invoke


def test_every_pipeline_reads_all_mentions(measure):
    rows = measure("--encoder", "ngram")
    assert [row["steps"] for row in rows] == STEPS
    for row in rows:
        assert (row["dataset"], row["encoder"]) == ("ncbi", "ngram")
        assert (row["mentions"], row["repeats"]) == (4, 5)
        assert row["slowest"] <= row["mentions_per_s"] <= row["fastest"]
        assert row["lowest_ratio"] <= row["ratio"] <= row["highest_ratio"]
    assert (rows[0]["ratio"], rows[0]["processor_ratio"]) == (1, 1)


def test_dense_encoders_get_ngrams_beside_them(measure, tiny_folder):
    pytest.importorskip("safetensors")
    rows = measure("--encoder", tiny_folder, "--repeats", "6")
    assert [row["steps"] for row in rows] == [*STEPS, "abbreviations, composites, lexical"]
    assert {row["repeats"] for row in rows} == {6}


def test_texts_are_encoded_in_the_pipeline(modules, tmp_path):
    from _common.vector_cache import VectorCache, add_cache, remove_cache
    from spacy import registry

    hashes = registry.architectures.get("tests.HashingEncoder.v1")()
    cached = add_cache(hashes, tmp_path)
    cached.initialize(X=["heart attack"])
    assert isinstance(cached.shims[0], VectorCache)
    assert remove_cache(cached) is hashes
    hybrid = registry.architectures.get("spacy-connorm.HybridEncoder.v1")(
        dense=cached,
        lexical=registry.architectures.get("spacy-connorm.NgramEncoder.v1")(),
        lexical_weight=0.3,
    )
    assert remove_cache(hybrid).shims[0].parts["dense"] is hashes
    assert remove_cache(hybrid).shims[0].lexical_weight == 0.3
    assert remove_cache(hashes) is hashes


def test_fewer_repeats_are_refused(measure, capsys):
    with pytest.raises(SystemExit):
        measure("--encoder", "ngram", "--repeats", "4")
    assert "at least 5" in capsys.readouterr().err


def test_an_unknown_encoder(measure, capsys):
    with pytest.raises(SystemExit) as exit:
        measure("--encoder", "word2vec")
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("'word2vec' is no encoder")
