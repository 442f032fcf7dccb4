"""From plain text to ids, by exact matching and by the finder."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from thinc.api import Config

from spacy_connorm.ontology.reading import read_ontology

FASTHPOCR = Path(__file__).parents[2] / "benchmarks" / "_peers" / "fasthpocr_finder.py"
NOTE = (
    "1|t|Atrial fibrillation (AFB).\n"
    "1|a|Heart attacks and AFB. Stroke.\n"
    "1\t0\t19\tAtrial fibrillation\tDisease\tD3\n"
    "1\t21\t24\tAFB\tDisease\tD3\n"
    "1\t27\t40\tHeart attacks\tDisease\tD1\n"
    "1\t45\t48\tAFB\tDisease\tD3\n"
    "1\t50\t56\tStroke\tDisease\tD2\n\n"
)
MEDIC = "D1||Heart Attack\nD2||Stroke\nD3||Atrial Fibrillation\n"


@pytest.fixture
def corpus(data):
    (data / "medic_2012" / "medic_06Jul2012.txt.gz").write_bytes(gzip.compress(MEDIC.encode()))
    (data / "bc5cdr" / "test.pubtator.txt.gz").write_bytes(gzip.compress(NOTE.encode()))
    return data


@pytest.fixture
def find(rows_of, corpus):
    """A function that scores what a finder finds in the corpus."""
    options = ("--dataset", "bc5cdr-d", "--data", corpus)
    return lambda finder, *more: rows_of("end_to_end.py", *options, "--finder", finder, *more)


@pytest.fixture
def annotated(corpus):
    """Train and dev parts of the corpus."""
    for part in ("train", "dev"):
        path = corpus / "bc5cdr" / f"{part}.pubtator.txt.gz"
        path.write_bytes(gzip.compress(NOTE.encode()))


def test_the_finder_finds_what_exact_matching_misses(rows_of, corpus):
    rows = {
        row["finder"]: row
        for row in rows_of("end_to_end.py", "--dataset", "bc5cdr-d", "--data", corpus)
    }
    assert rows["exact"]["document_recall"] == pytest.approx(66.67)
    assert rows["exact"]["mention_recall"] == 40
    assert rows["ontology"]["document_f1"] == rows["ontology"]["linked_f1"] == 100
    assert rows["ontology"]["encoder"] == "ngram"


def test_coordinations_are_one_mention_or_two(find, corpus):
    note = "1|t|Heart and liver attack.\n1|a|\n1\t0\t22\tHeart and liver attack\tDisease\tD1|D2\n\n"
    medic = "D1||Heart Attack\nD2||Liver Attack\n"
    (corpus / "medic_2012" / "medic_06Jul2012.txt.gz").write_bytes(gzip.compress(medic.encode()))
    (corpus / "bc5cdr" / "test.pubtator.txt.gz").write_bytes(gzip.compress(note.encode()))
    scores = {row["setting"]: row["linked_f1"] for row in find("ontology", "--each-setting")}
    assert scores["default"] == scores["no profile"] == 100
    assert scores["no coordinations"] == 0


def test_stop_texts_are_learned_from_annotated_documents(find, corpus):
    text = "1|t|Stroke. Strokes. A stroke.\n1|a|Heart attack.\n"
    train = text + "1\t27\t39\tHeart attack\tDisease\tD1\n\n"
    (corpus / "bc5cdr" / "train.pubtator.txt.gz").write_bytes(gzip.compress(train.encode()))
    scores = [find("ontology", *options)[0] for options in ([], ["--learn-stop-texts"])]
    assert [(row["learned"], row["found"]) for row in scores] == [(False, 5), (True, 4)]


def test_an_ner_is_trained_once(find, annotated, capsys):
    printed = []
    for _ in range(2):
        (row,) = find("trained")
        printed.append("Training pipeline" in capsys.readouterr().err)
    assert printed == [True, False]
    assert (row["ner"], row["encoder"], row["features"]) == ("tok2vec", "ngram", True)
    assert row["found"] and row["mention_f1"] and row["document_f1"]


def test_an_ner_can_do_without_features(find, annotated, work):
    (row,) = find("trained", "--without-features")
    assert row["features"] is False
    (ner,) = work.glob("ner-tok2vec-*")
    embed = spacy.load(ner / "done").config["components"]["ner"]["model"]["tok2vec"]["embed"]
    assert embed["scale"] == 0


def test_an_ner_is_trained_further(find, annotated, work, capsys):
    further = ("--start-from", "bc5cdr-d", "--max-steps", 3, "--learning-rate", 0.0005)
    (row,) = find("trained", *further)
    assert capsys.readouterr().err.count("Training pipeline") == 2
    assert (row["start_from"], row["max_steps"]) == ("bc5cdr-d", 3)
    first, second = sorted(work.glob("ner-tok2vec-*"), key=lambda path: path.stat().st_ctime)
    config = Config().from_disk(second / "training.cfg", interpolate=False)
    assert config["components"]["ner"] == {"source": str(first / "done")}
    training = spacy.load(second / "done").config["training"]
    assert (training["max_steps"], training["optimizer"]["learn_rate"]) == (3, 0.0005)


@pytest.mark.parametrize("peer", ["gilda", "fasthpocr"])
def test_a_peer_finds_in_an_environment_of_its_own(find, corpus, monkeypatch, peer):
    from _peers import peer_finder

    (corpus / f"{peer}_finder.py").write_text(
        "import json, sys\n"
        "given = json.load(sys.stdin)\n"
        "first, *_ = given['concepts']\n"
        "json.dump({'found': [[[27, 39, first['id']]] for _ in given['texts']]}, sys.stdout)\n",
        encoding="utf8",
    )
    monkeypatch.setattr(peer_finder, "HERE", corpus)
    made = []
    monkeypatch.setattr(
        peer_finder,
        "make_pinned_environment",
        lambda name, requirements, *, work: made.append(requirements.name) or sys.executable,
    )
    (row,) = find(peer)
    assert made == [f"{peer}.txt"]
    # Tokens are whole: "Heart attack" of "Heart attacks" is widened.
    assert (row["found"], row["linked_precision"], row["encoder"]) == (1, 100, None)


def test_fasthpocr_reads_the_names_as_obo_once(tmp_path):
    package = tmp_path / "FastHPOCR"
    (package / "cr").mkdir(parents=True)
    (package / "cr" / "CRIndexKB.py").write_text("class CRIndexKB: pass\n")
    (package / "IndexHPO.py").write_text(
        "import shutil\n"
        "class IndexHPO:\n"
        "    def __init__(self, path, folder): self.path, self.folder = path, folder\n"
        "    def index(self): shutil.copy(self.path, self.folder + '/hp.index')\n"
    )
    (package / "HPOAnnotator.py").write_text(
        "from types import SimpleNamespace\n"
        "class HPOAnnotator:\n"
        "    def __init__(self, path): print('loads', path)\n"
        "    def annotate(self, text):\n"
        "        return [SimpleNamespace(startOffset=0, endOffset=len(text), hpoUri='HP:2')]\n"
    )
    name = 'A "B" {c}'
    concept = {"id": "HP:2", "name": name, "exact": [name, "d"], "related": ["e"]}
    given = {
        "concepts": [
            {"id": "HP:1", "name": "All", "exact": ["All"], "related": [], "parents": []},
            {**concept, "parents": ["HP:1"]},
        ],
        "texts": ["one"],
        "index": str(tmp_path / "index"),
    }
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(FASTHPOCR)],
            input=json.dumps(given),
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == {"found": [[[0, 3, "HP:2"]]]}
        (package / "IndexHPO.py").write_text("IndexHPO = None")
    _, read = read_ontology(tmp_path / "index" / "hp.obo")
    assert (read.names, read.related, read.parents) == ((name, "d", "e"), ("e",), ("HP:1",))


def test_concepts_of_other_types_are_left_out(rows_of, corpus):
    path = corpus / "typed.jsonl"
    concepts = [
        {"concept_id": "D1", "canonical_name": "Heart Attack", "types": ["C", "C14"]},
        {"concept_id": "D2", "canonical_name": "Stroke", "types": ["F"]},
        {"concept_id": "D3", "canonical_name": "Atrial Fibrillation"},
    ]
    path.write_text("".join(json.dumps(concept) + "\n" for concept in concepts))
    base = ("--dataset", "bc5cdr-d", "--data", corpus, "--ontology", path)
    found = {}
    for types in ([], ["--types", "C14", "A"]):
        (row,) = rows_of("end_to_end.py", *base, *types, "--finder", "ontology")
        found[row["types"]] = row["document_recall"]
    assert found == {"": 100, "C14 A": pytest.approx(66.67)}
