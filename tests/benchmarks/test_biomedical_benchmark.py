"""An ontology that is left out is in nothing that the first training sees."""

import gzip
import json

import pytest

pytest.importorskip("torch")

TERM = '[Term]\nid: DOID:{0}\nname: {1}\nsynonym: "{2}" EXACT []\n'
TERMS = (("heart failure", "cardiac failure"), ("head cold", "cold of the head"))


def test_an_ontology_is_left_out(run, data, work, write_config):
    config, out = write_config(), data / "out.json"
    text = config.read_text(encoding="utf8").replace("GroupBatcher", "FamilyBatcher")
    config.write_text(text.replace('eval_strategy = "epoch"\n', ""), encoding="utf8")
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


def test_nothing_is_left_out_and_the_start_stands_beside(run, data, work, write_config):
    config, out = write_config(), data / "out.json"
    text = config.read_text(encoding="utf8").replace('eval_strategy = "epoch"\n', "")
    config.write_text(text, encoding="utf8")
    given = ("--sources", "medic", "--others", config, "--seeds", "0", "--left-out", "none")
    ways = ("--trained-on", "start", "others")
    run("biomedical.py", "--dataset", "ncbi", "--data", data, "--json", out, *given, *ways)
    rows = [(row["trained_on"], row["seeds"]) for row in json.loads(out.read_text())]
    assert rows == [("start", 1), ("others", 1)]
    (joined,) = work.glob("joined-*.jsonl")
    assert "Heart Attack" in joined.read_text()
    assert len(list(work.glob("small-*"))) == 1
