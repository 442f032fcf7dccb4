"""The NIL benchmark, on forty concepts."""

import gzip
import json

import pytest

SITES = ("heart", "liver", "lung", "skin", "ear", "eye", "hand", "foot")
NAMES = [f"{kind} of {site}" for kind in ("cancer", "cyst", "ulcer", "pain") for site in SITES]
NOTE = "{id}|t|{text}\n{id}|a|\n{id}\t0\t{length}\t{text}\tDisease\tD{id}\n\n"


@pytest.fixture
def larger(data):
    """Corpora that name each concept: as the ontology does, and with one word more."""
    lines = "".join(f"D{number}||{name}\n" for number, name in enumerate(NAMES))
    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", lines)
    prefixes = {"train": "an old ", "dev": "acute ", "test": "mild "}
    for part, prefix in prefixes.items():
        texts = [prefix + name for name in NAMES]
        notes = (
            NOTE.format(id=number, text=text, length=len(text)) for number, text in enumerate(texts)
        )
        pack(data / "bc5cdr" / f"{part}.pubtator.txt.gz", "".join(notes))
    return data


def pack(path, text):
    path.write_bytes(gzip.compress(text.encode()))


def test_settings_fitted_on_dev_are_scored_on_test(run, larger):
    out = larger / "out.json"
    arguments = ["--dataset", "bc5cdr-d", "--encoder", "ngram", "--data", larger, "--json", out]
    run("nil.py", *arguments, "--seed", "0", "1")
    tables = {"Test, percent": [], "Precision at coverage, percent": []}
    for row in json.loads(out.read_text()):
        tables[row["table"]].append(row)
    rows, points = tables.values()
    assert [(row["seed"], row["settings"]) for row in rows] == [
        (seed, settings) for seed in (0, 1) for settings in ("as they were", "fitted to dev")
    ]
    for before, after in zip(rows[::2], rows[1::2], strict=True):
        # a fifth of 32 concepts, each named once
        assert before["nil_mentions"] == after["nil_mentions"] == 6
        assert (before["coverage"], before["nil_recall"]) == (100.0, 0.0)
        assert after["nil_recall"] > 50
        assert after["concept_f"] > before["concept_f"]
        assert after["log_loss"] < before["log_loss"]
    for seed in (0, 1):
        curve = [point for point in points if point["seed"] == seed]
        coverages = [point["coverage"] for point in curve]
        assert coverages == sorted(set(coverages), reverse=True)
        assert coverages[0] == 100.0
        assert curve[0]["precision"] < curve[-1]["precision"]


def test_the_same_seed_holds_out_the_same_concepts(modules):
    from nil import hold_out

    from spacy_connorm.concepts import Concept, Ontology

    concepts = [Concept(f"C{number}", f"name {number}") for number in range(50)]
    held = hold_out(Ontology(concepts), 0)
    assert len(held) == 10
    assert held == hold_out(Ontology(reversed(concepts)), 0) != hold_out(Ontology(concepts), 1)
