"""The comparison with scispaCy, on data of a few lines, with a stand-in for scispaCy."""

import json
import os
import sys

import pytest

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.evaluation import Gold

# Exact matching behind scispaCy's names.
STAND_IN = """
import json
from pathlib import Path
from typing import NamedTuple


class MentionCandidate(NamedTuple):
    concept_id: str
    aliases: list
    similarities: list


class LinkerPaths(NamedTuple):
    folder: str

    @classmethod
    def from_directory(cls, folder):
        return cls(folder)

    def load(self):
        return [], None, json.loads(Path(self.folder, "index.json").read_text())


class CandidateGenerator:
    def __init__(self, index, vectorizer, aliases, kb):
        self.index = index

    def __call__(self, mentions, k):
        return [
            [MentionCandidate(each, [text], [0.5, 1.0]) for each in self.index.get(text, [])]
            for text in map(str.lower, mentions)
        ]


def create_tfidf_ann_index(folder, kb):
    print("Fitting")
    Path(folder, "index.json").write_text(json.dumps(kb))
"""
KNOWLEDGE_BASE = """
import json
from pathlib import Path


def KnowledgeBase(path):
    found = {}
    for line in Path(path).read_text().splitlines():
        record = json.loads(line)
        for name in {record["canonical_name"], *record["aliases"]}:
            found.setdefault(name.lower(), []).append(record["concept_id"])
    return found
"""


@pytest.fixture
def stand_in(modules, monkeypatch, tmp_path):
    """An environment with the stand-in for scispaCy."""
    package = tmp_path / "stand_in" / "scispacy"
    package.mkdir(parents=True)
    for name, code in {
        "__init__": "",
        "candidate_generation": STAND_IN,
        "linking_utils": KNOWLEDGE_BASE,
    }.items():
        (package / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(package.parent), prepend=os.pathsep)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    from _measure import environments

    monkeypatch.setattr(
        environments,
        "make_pinned_environment",
        lambda name, requirements, *, work: sys.executable,
    )


@pytest.fixture
def ours_here(modules, monkeypatch):
    """Lets our side answer in this process: a fresh one takes seconds to start."""
    import peers
    from _peers.ours import Ours

    class Here:
        def __init__(self):
            self._side = Ours()

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def ask(self, do, **fields):
            return json.loads(json.dumps(getattr(self._side, do)(**fields)))

        def peak_mb(self):
            return 100.0

    real = peers.Peer
    monkeypatch.setattr(
        peers, "Peer", lambda command: Here() if "_peers.ours" in command else real(command)
    )


@pytest.fixture
def arguments(modules, data, work):
    """The options of a small comparison."""
    from _common.cli import make_parser
    from peers import add_options

    work.mkdir()
    chosen = {"--data": data, "--work": work, "--dataset": "ncbi", "--texts": "OD"}
    ours = ["--ours", "ngram", "--index", "exact"]
    words = [*(str(word) for pair in chosen.items() for word in pair), *ours]
    parsed = add_options(make_parser("")).parse_args(words)
    parsed.repeats = 1
    return parsed


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_both_sides_read_the_same(stand_in, ours_here, arguments):
    from peers import measure

    tables = measure(arguments)
    sides = ["scispaCy", "ngram, exact"]
    speed = tables["Mentions a second"]
    assert [(row["side"], row["call"]) for row in speed] == [
        (side, call) for side in sides for call in ("32 documents", "1 document", "one by one")
    ]
    for row in speed:
        assert (row["dataset"], row["texts"], row["mentions"]) == ("ncbi", "OD", 4)
        assert row["slowest"] == row["mentions_per_s"] == row["fastest"]
        assert row["lowest_again_ratio"] == row["again_ratio"] == row["highest_again_ratio"]
    assert {row["ratio"] for row in speed if row["side"] == "scispaCy"} == {1}
    assert [(row["side"], row["lenient@1"]) for row in tables["Answers"]] == [
        ("scispaCy", 75),
        ("ngram, exact", 100),
    ]
    assert [row["side"] for row in tables["Start and memory"]] == sides
    assert all(row["peak_mb"] > 1 for row in tables["Start and memory"])


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_our_side_answers_over_a_pipe(modules, arguments, without_torch, monkeypatch):
    from _common.datasets import Data
    from _peers.process import Peer
    from _peers.sides import mentions_by_document, our_side, write_files

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", without_torch["PYTHONPATH"])
    data = Data("ncbi", arguments.data)
    files = write_files(data, "O", arguments.work)
    side = our_side("ngram", data, "O", files, index="exact", work=arguments.work)
    with Peer(side.command) as peer:
        peer.ask("build", folder=str(side.folder), **side.builds)
        side.open(peer)
        assert peer.ask("read", documents=2) > 0
        assert peer.ask("read", documents=0) > 0
        (found,) = peer.ask("answer", mentions=["infarct"])
        assert found[0][0] == "D1"
        assert peer.peak_mb() > 10
    assert mentions_by_document(data) == [["Apoplexy"], ["infarct"], ["CVA"], ["infarkt"]]


def test_our_side_takes_the_index_of_a_pipelines_config(modules, arguments):
    from _common.datasets import Data
    from _peers.sides import our_side, write_files

    data = Data("ncbi", arguments.data)
    files = write_files(data, "O", arguments.work)
    path = arguments.work / "pipeline.cfg"
    normalizer = "[components.concept_normalizer]\nfactory = ${paths.unknown}\n\n"
    index = (
        '[components.concept_normalizer.index]\n@misc = "spacy-connorm.IvfIndex.v1"\nlists = 7\n'
    )
    path.write_text(f"[paths]\n\n[components]\n\n{normalizer}{index}")
    side = our_side("ngram", data, "O", files, index=str(path), work=arguments.work)
    assert side.name == "ngram, pipeline.cfg"
    index = side.builds["config"]["index"]
    assert index == {"@misc": "spacy-connorm.IvfIndex.v1", "lists": 7}


def test_annotated_texts_are_among_the_aliases(modules):
    from _peers.sides import scispacy_records

    ontology = Ontology([Concept("D1", "Heart Attack", ("Infarct",), alt_ids=("100",))])
    synonyms = [("heart attacks", "100"), ("Infarct", "D1"), ("a", "X"), ("b", "X"), ("b", "X")]
    assert scispacy_records(ontology, synonyms) == [
        {
            "concept_id": "D1",
            "canonical_name": "Heart Attack",
            "aliases": ["Infarct", "heart attacks", "Infarct"],
            "types": [],
        },
        {"concept_id": "X", "canonical_name": "b", "aliases": ["a"], "types": []},
    ]


def test_mentions_of_a_call(modules):
    from _peers.child import calls

    documents = [["a", "b"], [], ["c"]]
    assert list(calls(documents, 2)) == [["a", "b"], ["c"]]
    assert list(calls(documents, 1)) == [["a", "b"], [], ["c"]]
    assert list(calls(documents, 0)) == [["a"], ["b"], ["c"]]


def test_candidates_are_ordered_as_entity_linker_does(modules):
    from _peers.rows import ranked

    found = [("A", 0.7), ("B", 0.9), ("C", 0.9), ("D", 0.2)]
    assert [candidate.concept_id for candidate in ranked(found)] == ["B", "C", "A", "D"]


def test_equal_similarities_share_a_place(modules):
    from _peers.rows import answer_row

    gold = [Gold("cva", frozenset({"C"}), True), Gold("none", frozenset(), False)]
    found = [[("A", 0.5), ("B", 0.9), ("C", 0.9)], []]
    assert answer_row(gold, found) == {"mentions": 1, "lenient@1": 100, "lenient@5": 100}


def test_turns_are_compared_one_by_one(modules):
    from _peers.rows import Passes, Start, speed_row, start_row

    own = [Passes(1, 0.5), Passes(2, 1), Passes(4, 1)]
    peer = [Passes(4, 4), Passes(4, 4), Passes(4, 4)]
    row = speed_row(own, peer, 8)
    assert (row["mentions_per_s"], row["slowest"], row["fastest"]) == (4, 2, 8)
    assert (row["ratio"], row["lowest_ratio"], row["highest_ratio"]) == (2, 1, 4)
    assert (row["again_mentions_per_s"], row["again_ratio"]) == (8, 4)
    row = start_row([Start(2, 100)], [Start(4, 400)])
    assert (row["ready_s"], row["ratio"]) == (2, 2)
    assert (row["peak_mb"], row["peak_share"]) == (100, 0.25)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_peak_memory(modules, capsys):
    from _measure.memory_usage import read_status

    assert read_status(os.getpid(), "VmHWM") > 10_000
    with pytest.raises(SystemExit):
        read_status(os.getpid(), "VmNone")
    assert "does not report VmNone" in capsys.readouterr().err


def test_a_process_that_dies(modules, capsys):
    from _peers.process import Peer

    with pytest.raises(SystemExit), Peer([sys.executable, "-c", ""]) as peer:
        peer.ask("read", documents=1)
    assert "ended in the middle of 'read'" in capsys.readouterr().err


def test_the_environment_is_pinned(modules):
    from _peers.process import REQUIREMENTS

    lines = REQUIREMENTS.read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pins["scispacy"] == "0.6.2"
    assert tuple(map(int, pins["scipy"].split("."))) < (1, 11)
