import json

import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

import spacy_connorm.cli  # noqa: F401
from spacy_connorm.concepts import Concept, Ontology

CONCEPTS = [
    Concept("C1", "heart attack", ("myocardial infarction",), alt_ids=("OLD1",)),
    Concept("C2", "stroke", ("CVA",)),
    Concept("C3", "costovertebral angle", ("CVA",)),
    Concept("C4", "influenza", ("flu",)),
]
SETTINGS = {
    "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
    "labels": ["Disease", "Site"],
    "nil_threshold": 0.3,
}
GOLD = [
    ("heart attack", "Disease", "OLD1"),  # an alternate id
    ("CVA", "Site", "C3"),  # a tie that C2 leads
    ("flu", "Disease", "C4|C2"),  # a composite
    ("shock", "Disease", "C9"),  # an id that the index lacks
    ("gout", "Disease", ""),  # NIL
    ("aspirin", "Drug", "C4"),  # not for this normalizer
]


def write(path, mentions, nlp):
    docs = []
    for text, label, kb_id in mentions:
        doc = nlp.make_doc(text)
        doc.ents = [doc.char_span(0, len(text), label=label, kb_id=kb_id)]
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("evaluate")
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config=SETTINGS)
    synonyms = [("Heart Attack", "C1")]
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(CONCEPTS), synonyms=synonyms)
    nlp.to_disk(path / "pipeline")
    write(path / "gold.spacy", GOLD, nlp)
    write(path / "train.spacy", [("Flu", "Disease", "C4")], nlp)
    write(path / "without.spacy", [("flu", "Disease", ""), ("flu", "Drug", "C4")], nlp)
    write(path / "foreign.spacy", [("flu", "Disease", "MESH:C4")], nlp)
    (path / "text.spacy").write_text("flu")
    return path


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["connorm", "evaluate", *arguments])

    return invoke


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf8"))


def words(result):
    return " ".join(result.output.split())


def test_both_protocols_stand_beside_each_other(run, folder):
    result = run("pipeline", "gold.spacy", "--json", "scores.json")
    assert result.exit_code == 0, result.output
    (row,) = read(folder, "scores.json")
    expected = {
        "search": "D-T+OD-T",
        "mentions": 4,
        "lenient@1": 75.0,
        "strict@1": 25.0,
        "strict@5": 50.0,
        "in_ontology_mentions": 3,
        "in_ontology_lenient@1": 100.0,
        "unseen_mentions": 3,
        "unseen_lenient@1": 66.67,
        "nil_mentions": 1,
        "nil_recall": 100.0,
    }
    assert {key: row[key] for key in expected} == expected
    assert "search mentions number lenient@1 lenient 95 % lenient@5" in words(result)
    assert "D-T+OD-T text unseen in D 3 66.7" in words(result)
    assert "Mentions of no concept (NIL)" in result.output


def test_searches_alone_are_compared_with_the_sieve(run, folder):
    result = run("pipeline", "gold.spacy", "--search", "D-T", "-s", "OD-T", "--json", "two.json")
    assert result.exit_code == 0, result.output
    rows = read(folder, "two.json")
    assert [row["search"] for row in rows] == ["D-T+OD-T", "D-T", "OD-T"]
    assert "strict@1_p" not in rows[0]
    assert rows[1]["strict@1_difference"] == 0.0
    assert "Compared with D-T+OD-T" in result.output


def test_unseen_is_told_by_another_d_if_one_is_named(run, folder):
    result = run("pipeline", "gold.spacy", "--train", "train.spacy", "--json", "train.json")
    assert result.exit_code == 0, result.output
    assert read(folder, "train.json")[0]["unseen_mentions"] == 3


@pytest.mark.parametrize("name", ["errors.tsv", "errors.jsonl"])
def test_wrong_answers_are_listed(run, folder, name):
    result = run("pipeline", "gold.spacy", "--errors", name)
    assert result.exit_code == 0, result.output
    lines = (folder / name).read_text(encoding="utf8").splitlines()
    assert len(lines) == (4 if name.endswith(".tsv") else 3)
    for expected in ("CVA", "costovertebral angle", "stroke; influenza", "not in the index"):
        assert sum(expected in line for line in lines) == 1


def test_ids_written_otherwise_are_told(run):
    result = run("pipeline", "foreign.spacy")
    assert result.exit_code == 0, result.output
    assert "[CNW600]" in result.output
    assert "'MESH:C4', the index has ids such as 'C1'" in words(result)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["absent", "gold.spacy"], "CN700"),
        (["pipeline", "absent.spacy"], "CN100"),
        (["pipeline", "text.spacy"], "CN706"),
        (["pipeline", "without.spacy"], "CN600"),
        (["pipeline", "gold.spacy", "--train", "absent.spacy"], "CN100"),
        (["pipeline", "gold.spacy", "--search", "X-T"], "CN500"),
        (["pipeline", "gold.spacy", "--search", "O-C"], "CN408"),
        (["pipeline", "gold.spacy", "--errors", "errors.csv"], "CN708"),
        (["pipeline", "gold.spacy", "--json", "pipeline"], "CN105"),
        (["pipeline", "gold.spacy", "--component", "ner"], "CN704"),
    ],
)
def test_bad_input_is_one_clear_message_and_exit_code_1(run, arguments, code):
    result = run(*arguments)
    assert result.exit_code == 1
    assert f"[{code}]" in result.output
    assert "Traceback" not in result.output


def test_help_has_an_example(run):
    result = run("--help")
    assert result.exit_code == 0
    assert "python -m spacy connorm evaluate" in words(result)
