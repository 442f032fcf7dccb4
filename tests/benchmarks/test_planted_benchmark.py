"""Which names are planted, which indexes are built, and how answers are compared."""

import json
from importlib import import_module

import pytest

from spacy_connorm.concepts import Candidate


@pytest.fixture
def planted(modules):
    return import_module("planted")


@pytest.fixture
def many_names(modules, monkeypatch):
    """Names made of MEDIC's alone."""
    names = import_module("_common.synthetic_names")
    monkeypatch.setattr(names, "ONTOLOGIES", names.ONTOLOGIES[:1])
    return names


@pytest.fixture
def by_case(many_names, monkeypatch):
    """No encoder is asked: names differ if they do in lower case."""
    monkeypatch.setattr(
        many_names,
        "encoder_inputs",
        lambda encoder, texts: [text.lower().encode() for text in texts],
    )


def candidate(concept_id):
    return Candidate(concept_id, "", 1.0, "", "OD-T")


def test_what_ontology_and_data_have_is_not_planted(planted, by_case):
    own = ["Gout", "gout", "Stroke"]
    names = iter(["Stroke", "GOUT", "acne", "Acne", "cold", "flu"])
    assert list(planted.plant(own, names, None, 4)) == ["acne", "cold"]
    assert list(planted.plant(own, names, None, 2)) == []


def test_too_few_names_are_refused(planted, by_case, capsys):
    with pytest.raises(SystemExit):
        planted.plant(["gout", "stroke", "Stroke"], iter(["acne"]), None, 1)
    assert capsys.readouterr().err == (
        "There are 2 names before any is planted: give at least as many --names.\n"
    )


def test_planted_names_are_concepts_of_their_own(planted):
    one, other = planted.as_concepts(["acne", "cold"])
    assert (one.names, other.names) == (("acne",), ("cold",))
    assert one.concept_id != other.concept_id


@pytest.mark.parametrize(
    ("names", "builds"),
    [
        (["exact"], [["exact"]]),
        (["exact", "ivf"], [["ivf", "exact"]]),
        (["exact", "ivf", "annoy"], [["ivf", "exact"], ["annoy"]]),
        (
            ["exact", "exact-float16", "exact-int8", "ivf", "ivf-int8"],
            [["ivf", "exact"], ["ivf-int8", "exact-int8"], ["exact-float16"]],
        ),
    ],
)
def test_exact_searches_share_an_index_of_their_dtype(planted, names, builds):
    assert planted.share_builds(names) == builds


def test_first_concepts_are_compared(modules):
    from _common.scoring import same_first_concept

    one = [[candidate("A"), candidate("B")], [candidate("A")], [], []]
    other = [[candidate("A")], [candidate("B"), candidate("A")], [], [candidate("A")]]
    assert same_first_concept(one, other) == 50


def test_indexes_are_compared_with_exact_search(run, data, work, many_names, tiny_folder):
    pytest.importorskip("safetensors")
    pytest.importorskip("faiss")
    out = data / "out.json"
    options = ("--data", data, "--encoder", tiny_folder, "--names", 6, "--json", out)
    run("planted.py", *options, "--index", "exact-int8", "ivf")
    rows = json.loads(out.read_text())
    assert [(row["dataset"], row["index"]) for row in rows] == [
        (dataset, name)
        for dataset in ("ncbi", "bc5cdr-d")
        for name in ("exact, none planted", "exact", "ivf", "exact-int8")
    ]
    assert not list(work.glob("**/others.jsonl"))
    for row in rows:
        assert row["table"] == "Acc@1 in percent among 6 names"
        assert row["mentions"] == 4
        exact = next(each for each in rows if each["index"] == "exact")
        difference = row["lenient@1"] - exact["lenient@1"]
        assert row["lenient@1_difference"] == pytest.approx(difference)
        if row["index"] in ("exact", "ivf"):
            assert (difference, row["same_first_concept"]) == (0, 100)


def test_sparse_vectors_are_refused(run, data, capsys):
    with pytest.raises(SystemExit) as exit:
        run("planted.py", "--data", data, "--encoder", "ngram")
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("Sparse vectors")


def test_without_data_it_is_one_line_and_exit_code_1(run, tmp_path, capsys):
    with pytest.raises(SystemExit) as exit:
        run("planted.py", "--data", tmp_path, "--encoder", "minilm")
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("No data: ")
