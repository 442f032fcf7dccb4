"""`nlp.pipe(n_process=...)`, in a process of its own: a dead-lock fails, and does not hang."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from copy import deepcopy
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from spacy_connorm.pipeline.mention_marker import MARKER, add_marker

from .many_processes import answers, read

SCRIPT = Path(__file__).with_name("many_processes.py")
SETTINGS = {
    "index": {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 0, "dtype": "float32"},
    "types": ["Disease", "Symptom", "Chemical"],
}


@pytest.fixture(scope="module")
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
    }
    hybrid = {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "dense": transformer,
        "lexical": ngrams,
    }
    return {
        "ngrams": ngrams,
        "dan": dan,
        "transformer": transformer,
        "hybrid": hybrid,
    }


@pytest.fixture(scope="module")
def make(make_pipeline, encoders, ontology):
    """A function that makes a pipeline with one normalizer for each encoder named. Its mention
    finder adds to the mentions of a list.
    """

    def build(first, *others):
        nlp = make_pipeline(encoder=encoders[first], **SETTINGS)
        nlp.add_pipe("abbreviation_resolver", first=True)
        nlp.add_pipe("mention_finder", before="concept_normalizer")
        for name in others:
            config = {**SETTINGS, "encoder": encoders[name], "attribute_prefix": f"{name}_"}
            normalizer = nlp.add_pipe("concept_normalizer", name=name, config=config)
            normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
        return nlp

    return build


@pytest.fixture
def all_components(make_pipeline):
    """A pipeline with each component of the package."""
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", first=True)
    nlp.get_pipe("concept_normalizer").add_synonyms([("cold", "C4")])
    nlp.add_pipe("mention_finder", after="abbreviation_resolver")
    marker = add_marker(nlp, before="concept_normalizer")
    marker.use([("mention", "Symptom")], [], spans_key=None)
    nlp.add_pipe("assertion_marker")
    return nlp


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A function that has a pipeline do tasks with different numbers of processes, those that can
    be started here, and returns what each run gives.
    """

    def start(nlp, *runs, environment):
        folder = tmp_path_factory.mktemp("pipeline")
        nlp.to_disk(folder)
        known = multiprocessing.get_all_start_methods()
        runs = [run for run in runs if run.split(":")[1] in known]
        finished = subprocess.run(
            [sys.executable, str(SCRIPT), str(folder), *runs],
            stdout=subprocess.PIPE,
            # Thread pools that are forked are what may dead-lock.
            env={**environment, "OMP_NUM_THREADS": "2"},
            timeout=300,
            check=True,
        )
        return json.loads(finished.stdout)

    return start


@pytest.fixture(scope="module")
def results(make, run, without_torch):
    """What tasks give with one process and with several, by task and number of processes. All are
    started by one process, and with the encoder that imports least.
    """
    ways = {
        "annotated": ("spawn:1", "fork:3", "spawn:2"),
        "skipped": ("spawn:1", "spawn:2"),
        "raised": ("spawn:1", "fork:2"),
        "shared": ("fork:2", "spawn:2"),
    }
    runs = [f"{task}:{way}" for task, ways_of_task in ways.items() for way in ways_of_task]
    return run(make("dan"), *runs, environment=without_torch)


def test_each_component_is_pickled(all_components):
    nlp = all_components
    ours = {entry.name for entry in entry_points(group="spacy_factories") if _is_ours(entry)}
    assert {*ours, MARKER, "entity_ruler"} == set(nlp.pipe_names)
    text = "No mention. An MI and acetylsalicylic acid (ASA), vertigo, ASA."
    expected = read(nlp, nlp(text))
    assert len(expected) == 6
    doc = nlp.make_doc(text)
    for name, component in nlp.pipeline:
        copy = pickle.loads(pickle.dumps(component))
        assert copy.name == name
        doc = copy(doc)
    assert read(nlp, doc) == expected
    for copy in (pickle.loads(pickle.dumps(nlp)), deepcopy(nlp)):
        assert read(copy, copy(text)) == expected


def _is_ours(entry_point):
    return entry_point.value.startswith("spacy_connorm.")


def test_a_copy_of_a_pipeline_asks_its_own_normalizer(all_components):
    copy = pickle.loads(pickle.dumps(all_components))
    normalizer = copy.get_pipe("concept_normalizer")
    assert copy.get_pipe("mention_finder").normalizer is normalizer
    copy.replace_pipe("concept_normalizer", "concept_normalizer", config=SETTINGS)
    assert copy.get_pipe("mention_finder").normalizer is copy.get_pipe("concept_normalizer")


def test_workers_answer_as_one_process_does(make, run):
    nlp = make("ngrams", "dan", "transformer", "hybrid")
    ways = [f"answers:{way}" for way in ("spawn:1", "fork:4", "spawn:2")]
    alone, *others = run(nlp, *ways, environment=os.environ).values()
    assert [context["place"] for context, _ in alone] == list(range(len(alone)))
    assert [text for text, _, _ in alone[2][1]] == ["Acetylsalicylic acid", "ASA", "ASA"]
    linked = [candidates for _, ents in alone for _, _, candidates in ents]
    assert [any(answers) for answers in zip(*linked, strict=True)] == [True] * 4
    assert all(answers == alone for answers in others)


def test_workers_annotate_as_one_process_does(results):
    alone, *others = (lines for run, lines in results.items() if run.startswith("annotated"))
    assert len(alone) == 12 and "C2" in alone[0]
    assert others and all(lines == alone for lines in others)


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


def test_documents_that_fail_in_a_worker_are_passed_over_as_in_one_process(results):
    alone = results["skipped:spawn:1"]
    assert [text for text, _ in alone] == ["ASA", "aspirin", "Aspirin"]
    assert results["skipped:spawn:2"] == alone


def test_an_error_in_a_worker_is_raised(results):
    errors = [error for run, error in results.items() if run.startswith("raised")]
    assert errors and all("too cold" in error for error in errors)


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs /proc")
@pytest.mark.parametrize("way", ["fork:2", "spawn:2"])
def test_workers_map_the_files_of_an_index_that_was_never_saved(results, way):
    mapped, others = results[f"shared:{way}"]
    # A process that is spawned gets a copy of the encoder.
    weights = {"encoder.embeddings.weight.npy"} if "fork" in way else set()
    assert {"texts.rows.npy", *weights} <= set(mapped)
    assert others == []
