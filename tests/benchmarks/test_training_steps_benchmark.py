"""What steps of training on names gain: the rows, and what each is trained with."""

import json
from pathlib import Path

import pytest
from thinc.api import Config

pytest.importorskip("torch")

ONTOLOGY = """
{"concept_id": "D1", "canonical_name": "Infarct", "aliases": ["Infarcts"], "parents": ["D3"]}
{"concept_id": "D2", "canonical_name": "Stroke", "aliases": ["CVA"], "parents": ["D3"]}
{"concept_id": "D3", "canonical_name": "Disease", "aliases": ["Illness"]}
"""
TABLE = "words\tothers\tsame\tdifferent\ninfarct\tattack\t9\t1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text(TABLE, encoding="utf8")
    return path


@pytest.fixture
def options(data, write_config, tmp_path):
    ontology = tmp_path / "ontology.jsonl"
    ontology.write_text(ONTOLOGY.strip(), encoding="utf8")
    given = ("--dataset", "ncbi", "--config", write_config(), "--data", data, "--seeds", 2)
    return (*given, "--ontology", ontology)


def settings(work, name):
    (path,) = work.glob(f"steps-small-{name}-1-*.cfg")
    config = Config().from_disk(path, interpolate=False)
    return config["training"], config["data"]


def test_each_step_is_trained_alone_and_with_the_others(run, options, work, tmp_path, table):
    out = tmp_path / "out.json"
    run("training_steps.py", *options, "--substitutions", table, "--json", out)
    rows = json.loads(out.read_text())
    assert [row["steps"] for row in rows] == [
        "as it is",
        "relatives",
        "relatives, parents",
        "other words",
        "relatives, parents, other words",
    ]
    for row in rows:
        assert row["seeds"] == 2 and 0 <= row["lenient@1"] <= row["lenient@5"] <= 100
        assert row["lenient@1 +-"] is not None
    plain, data = settings(work, "plain")
    assert plain["seed"] == 1 and data.get("substitutions") is None
    training, data = settings(work, "relatives-parents-otherwords")
    assert training["batcher"]["@batchers"] == "spacy-connorm.FamilyBatcher.v1"
    assert training["batcher"]["size"] == plain["batcher"]["size"]
    assert training["objective"]["@losses"] == "spacy-connorm.FamilyContrastive.v1"
    assert training["objective"]["parent_share"] == 0.1
    assert Path(data["substitutions"]).read_text(encoding="utf8") == table.read_text("utf8")


def test_without_a_table_nothing_is_reworded(run, options, tmp_path):
    out = tmp_path / "out.json"
    run("training_steps.py", *options, "--json", out)
    steps = [row["steps"] for row in json.loads(out.read_text())]
    assert steps == ["as it is", "relatives", "relatives, parents"]


def test_a_config_that_is_not_varied(run, options, tmp_path, capsys):
    config = tmp_path / "small.cfg"
    text = config.read_text(encoding="utf8")
    config.write_text(text.replace("SupervisedContrastive", "InfoNce"), encoding="utf8")
    with pytest.raises(SystemExit):
        run("training_steps.py", *options)
    assert "which are varied" in capsys.readouterr().err


def test_an_ontology_without_parents(run, options, capsys):
    with pytest.raises(SystemExit) as exit:
        run("training_steps.py", *options[:-2])
    assert exit.value.code == 1
    assert "The ontology of ncbi has no parents" in capsys.readouterr().err
