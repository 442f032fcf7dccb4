"""An ontology that is left out is in nothing that the first training sees."""

import gzip
import json

import pytest

pytest.importorskip("torch")

CONFIG = """
[encoder]
@architectures = "spacy-connorm.DanEncoder.v1"
name = "{encoder}"
buckets = 64

[data]
@misc = "spacy-connorm.TrainingData.v1"
ontology = "somewhere.jsonl"

[training]
@misc = "spacy-connorm.Training.v1"

[training.batcher]
@batchers = "spacy-connorm.FamilyBatcher.v1"
size = 6

[training.objective]
@losses = "spacy-connorm.SupervisedContrastive.v1"

[training.arguments]
num_train_epochs = 1
learning_rate = 1e-3
report_to = []
"""
TERM = '[Term]\nid: DOID:{0}\nname: {1}\nsynonym: "{2}" EXACT []\n'
TERMS = (("heart failure", "cardiac failure"), ("head cold", "cold of the head"))


def test_an_ontology_is_left_out(run, data, work, tiny_folder):
    config, out = data / "small.cfg", data / "out.json"
    config.write_text(CONFIG.format(encoder=tiny_folder), encoding="utf8")
    terms = (TERM.format(number, *names) for number, names in enumerate(TERMS))
    doid = data / "disease_ontology" / "doid_2016-09-01.obo.gz"
    doid.parent.mkdir()
    doid.write_bytes(gzip.compress("\n".join(("format-version: 1.2\n", *terms)).encode()))
    given = ["--sources", "medic", "do", "--others", config, "--own", config, "--seeds", "0", "1"]
    run("biomedical.py", "--dataset", "ncbi", "--data", data, "--json", out, *given)
    rows = {row["trained_on"]: row for row in json.loads(out.read_text())}
    assert list(rows) == ["own", "others", "others, then own"]
    assert {(row["seeds"], row["mentions"]) for row in rows.values()} == {(2, 4)}
    (joined,) = work.glob("joined-*.jsonl")
    assert "heart failure" in joined.read_text()
    assert "Heart Attack" not in joined.read_text()
    assert len(list(work.glob("small-*"))) == 6
