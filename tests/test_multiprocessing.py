"""`nlp.pipe(n_process=2)`, in a process of its own: a dead-lock fails, and does not hang."""

import json
import multiprocessing
import subprocess
import sys

import pytest

SCRIPT = """
import json, multiprocessing, sys
import spacy

def read(doc):
    return [(ent.text, ent.kb_id_, ent._.candidates) for ent in doc.ents]

if __name__ == "__main__":
    nlp = spacy.load(sys.argv[1])
    nlp.get_pipe("concept_normalizer").add_synonyms([("heart disease", "C6")])
    texts = ["An MI and a cold.", "No mention.", "Heart disease", "heart disease, aspirin"] * 4
    # The parent has worked, and so has its thread pools, before it forks.
    answers = {"alone": [read(doc) for doc in nlp.pipe(texts)]}
    for method in sys.argv[2:]:
        multiprocessing.set_start_method(method, force=True)
        docs = nlp.pipe(texts, n_process=2, batch_size=3)
        answers[method] = [read(doc) for doc in docs]
    print(json.dumps(answers))
"""


@pytest.fixture
def save_pipeline(make_pipeline, tiny_folder, tmp_path):
    transformer = {
        "encoder": {
            "@architectures": "spacy-connorm.TransformerEncoder.v1",
            "name": str(tiny_folder),
        },
        "index": {"@misc": "spacy-connorm.AnnoyIndex.v1"},
    }

    ngrams = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    block = {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "dense": transformer["encoder"],
        "lexical": ngrams,
    }
    settings_of = {
        "ngrams": {},
        "transformer": transformer,
        "hybrid": {**transformer, "encoder": block},
    }

    def save(encoder):
        settings = settings_of[encoder]
        make_pipeline(**settings).to_disk(tmp_path / "pipeline")
        return tmp_path / "pipeline"

    return save


@pytest.mark.parametrize(
    ("encoder", "methods"),
    [("ngrams", ["fork"]), ("transformer", ["fork", "spawn"]), ("hybrid", ["fork", "spawn"])],
)
def test_workers_answer_as_one_process_does(save_pipeline, tmp_path, encoder, methods):
    methods = [method for method in methods if method in multiprocessing.get_all_start_methods()]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf8")
    finished = subprocess.run(
        [sys.executable, str(script), str(save_pipeline(encoder)), *methods],
        stdout=subprocess.PIPE,
        timeout=100,
        check=True,
    )
    answers = json.loads(finished.stdout)
    assert answers["alone"][3][0][:2] == ["heart disease", "C6"]
    for method in methods:
        assert answers[method] == answers["alone"], method
