"""`nlp.pipe(n_process=...)`, in a process of its own: a dead-lock fails, and does not hang."""

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from .many_processes import answers

SCRIPT = Path(__file__).with_name("many_processes.py")
ALONE = "spawn:1"


@pytest.fixture
def encoders(tiny_folder):
    """Settings of the smallest encoders."""
    ngrams = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    transformer = {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "name": str(tiny_folder),
    }
    dan = {
        "@architectures": "spacy-connorm.DanEncoder.v1",
        "name": str(tiny_folder),
        "buckets": 64,
        "width": 8,
        "hidden": 5,
    }
    hybrid = {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "dense": transformer,
        "lexical": ngrams,
    }
    return {"ngrams": ngrams, "dan": dan, "transformer": transformer, "hybrid": hybrid}


@pytest.fixture
def run(make_pipeline, encoders, tmp_path):
    """A function that has a pipeline do a task with different numbers of processes, those that can
    be started here, and returns what each way gives.
    """

    def start(encoder, task, *runs):
        nlp = make_pipeline(
            encoder=encoders[encoder],
            index={"@misc": "spacy-connorm.AnnoyIndex.v1"},
            types=["Disease", "Symptom", "Chemical"],
        )
        nlp.add_pipe("abbreviation_resolver", first=True)
        nlp.to_disk(tmp_path / "pipeline")
        known = multiprocessing.get_all_start_methods()
        runs = [run for run in runs if run.partition(":")[0] in known]
        finished = subprocess.run(
            [sys.executable, str(SCRIPT), str(tmp_path / "pipeline"), task, *runs],
            stdout=subprocess.PIPE,
            timeout=300,
            check=True,
        )
        return json.loads(finished.stdout)

    return start


@pytest.mark.parametrize(
    ("encoder", "runs"),
    [
        ("ngrams", ["fork:2", "spawn:4"]),
        ("dan", ["fork:4", "spawn:2"]),
        ("transformer", ["fork:4", "spawn:2"]),
        ("hybrid", ["fork:2", "spawn:2"]),
    ],
)
def test_workers_answer_as_one_process_does(run, encoder, runs):
    found = run(encoder, "answers", ALONE, *runs)
    alone = found.pop(ALONE)
    assert [context["place"] for context, _ in alone] == list(range(len(alone)))
    assert any(ents for _, ents in alone)
    for way, others in found.items():
        assert others == alone, way


def test_what_workers_are_asked_takes_all_that_they_are_given(make_pipeline):
    nlp = make_pipeline(types=["Disease", "Symptom", "Chemical"])
    nlp.add_pipe("abbreviation_resolver", first=True)
    nlp.get_pipe("concept_normalizer").add_synonyms([("heart disease", "C6")])
    ids = [[concept for _, concept, _ in ents] for _, ents in answers(nlp, 1)]
    # One of the two concepts that are called "cold" is of another type; the short form of the third
    # text stands for its long form; "heart disease" was added to another concept.
    assert ids[0] == ["C2", "C3"]
    assert ids[2] == ["C6", "C6"]
    assert ids[3][0] == "C6"


def test_documents_that_fail_in_a_worker(run):
    found = run("ngrams", "errors", ALONE, "spawn:2")
    left, raised = found.pop(ALONE)
    assert raised
    assert [text for text, _ in left] == ["ASA", "aspirin", "Aspirin"]
    for way, others in found.items():
        assert others == [left, True], way


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs /proc")
def test_workers_map_the_files_of_an_index_that_was_never_saved(run):
    found = run("dan", "shared", "fork:2", "spawn:2")
    for way, (own, others) in found.items():
        assert {"texts.unit.npy", "hashes.npy"} <= set(own), way
        assert others == [], way
