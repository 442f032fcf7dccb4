"""Data sets of a few lines, and a function that runs a benchmark in this process."""

import gzip
import json
import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MEDIC = "D1|100||Heart Attack|Infarct\nD2||Stroke|CVA\nD3||Angle|CVA\n"
NOTE = "{id}|t|{text}\n{id}|a|\n{id}\t0\t{length}\t{text}\t{type}\t{gold}\n\n"
PARTS = {
    "train": [("heart attacks", "OMIM:100")],
    "dev": [("apoplexy", "D2"), ("heart attacks", "D1")],
    "test": [("Apoplexy", "D2"), ("infarct", "D1"), ("CVA", "D3"), ("infarkt", "D1|D2")],
}
CONFIG = """
[encoder]
@architectures = "spacy-connorm.DanEncoder.v1"
name = "{encoder}"
buckets = 64

[data]
@misc = "spacy-connorm.TrainingData.v1"
ontology = "somewhere.jsonl"
corpora = ["elsewhere.spacy"]
dev = ["nowhere.spacy"]

[training]
@misc = "spacy-connorm.Training.v1"

[training.batcher]
@batchers = "spacy-connorm.GroupBatcher.v1"
size = 6
per_concept = 2

[training.objective]
@losses = "spacy-connorm.SupervisedContrastive.v1"

[training.arguments]
num_train_epochs = {epochs}
learning_rate = 1e-3
report_to = []
eval_strategy = "epoch"
"""
CORPORA = {"ncbi_disease": "SpecificDisease", "bc5cdr": "Disease"}


def pack(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def pack_notes(folder, corpus, part, mentions):
    """Write a part of a corpus in which each document is a mention."""
    notes = [
        NOTE.format(id=number, text=text, length=len(text), gold=gold, type=CORPORA[corpus])
        for number, (text, gold) in enumerate(mentions, start=1)
    ]
    pack(folder / corpus / f"{part}.pubtator.txt.gz", "".join(notes))


@pytest.fixture
def data(tmp_path):
    """The data folder: MEDIC, and two corpora that differ only in their types."""
    pack(tmp_path / "medic_2012" / "medic_06Jul2012.txt.gz", MEDIC)
    for corpus in CORPORA:
        for part, mentions in PARTS.items():
            pack_notes(tmp_path, corpus, part, mentions)
    return tmp_path


@pytest.fixture
def work(tmp_path):
    """The work folder."""
    return tmp_path / "kept"


@pytest.fixture
def modules(monkeypatch):
    """Makes the modules of `benchmarks/` importable."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def run(monkeypatch, work, modules):
    """A function that runs a benchmark."""

    def invoke(script, *arguments):
        path = BENCHMARKS / script
        monkeypatch.setattr(sys, "argv", [str(path), "--work", str(work), *map(str, arguments)])
        runpy.run_path(str(path), run_name="__main__")

    return invoke


@pytest.fixture
def rows_of(run, tmp_path):
    """A function that runs a benchmark and gives the rows that it writes."""

    def invoke(script, *arguments):
        run(script, *arguments, "--json", tmp_path / "rows.json")
        return json.loads((tmp_path / "rows.json").read_text())

    return invoke


@pytest.fixture
def write_config(tmp_path, tiny_folder):
    """A function that writes a small training config."""

    def write(*, epochs=1):
        path = tmp_path / "small.cfg"
        path.write_text(CONFIG.format(encoder=tiny_folder, epochs=epochs), encoding="utf8")
        return path

    return write


@pytest.fixture
def few_vectors(modules, monkeypatch):
    """Word vectors are small, and trained on MEDIC alone."""
    from _common import word_vectors

    monkeypatch.setattr(word_vectors, "ONTOLOGIES", word_vectors.ONTOLOGIES[:1])
    monkeypatch.setattr(word_vectors, "CORPORA", ("ncbi",))
    monkeypatch.setattr(word_vectors, "WIDTH", 8)
    monkeypatch.setattr(word_vectors, "BUCKETS", 500)
