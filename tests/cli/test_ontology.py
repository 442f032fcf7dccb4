from pathlib import Path

import pytest

from spacy_connorm.concepts import Ontology
from spacy_connorm.concepts.ontology import read_licence

DATA = Path(__file__).parent.parent / "data" / "ontologies"


def test_counts_are_printed(invoke, words, tmp_path):
    out = tmp_path / "small.jsonl"
    result = invoke("ontology", DATA / "small.obo", out)
    assert result.exit_code == 0, result.output
    for line in (
        "Concepts 2",
        "Names 7 3.5 a concept",
        "Ids, alternate ones included 4",
        "Links to parents 1",
        "Left out: an obsolete term 1 first: T:3",
        "Synonyms of scope EXACT 2",
        "Synonyms of scope BROAD 1",
        "Terms of use:",
        "Wrote 2 concepts",
    ):
        assert line in words(result)


def test_licence_setting_and_doubtful_input(invoke, words, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out.jsonl"
    table.write_text("id;name;above\nT:1;one;T:9\nT:2;ONE;T:2\n;none;\n")
    options = ("--delimiter", ";", "--parents", "above", "--licence", "Mine, ask first.")
    result = invoke("ontology", table, out, *options)
    assert result.exit_code == 0, result.output
    assert read_licence(out) == "Mine, ask first."
    for text in ("CNW102", "CNW103", "CNW104", "Names of several concepts 1 first: one"):
        assert text in words(result)


@pytest.mark.parametrize(
    ("arguments", "concepts"),
    [
        (["META", "--languages", "SPA,ENG", "--semantic-types", "T184", "--no-hierarchy"], 2),
        (["META", "--languages", "", "--tradenames", "--suppressed", "--sources", "RXNORM"], 2),
        (["mesh_descriptors.tsv", "--tree", DATA / "mesh_tree.tsv"], 3),
        (["mesh_descriptors.tsv", "-f", "tsv", "--no-header", "--id", "1", "--name", "2"], 3),
        (["icd10cm_order.txt", "--tabular", DATA / "icd10cm_tabular.xml"], 5),
        (["small.obo", "--scopes", "EXACT, BROAD", "--types", "subset", "--obsolete"], 3),
    ],
)
def test_options_are_parsed(invoke, words, tmp_path, arguments, concepts):
    name, *settings = arguments
    out = tmp_path / "out.jsonl"
    result = invoke("ontology", DATA / name, out, *settings)
    assert result.exit_code == 0, result.output
    assert f"Wrote {concepts} concepts" in words(result)
    assert len(Ontology.from_disk(out)) == concepts


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere.obo"], "CN100"),
        (["small.obo", "--format", "owl"], "CN118"),
        (["small.obo", "--format", "jsonl"], "CN112"),
        (["small.obo", "--languages", "ENG"], "CN113"),
        (["mesh_supplementary.tsv"], "CN114"),
        (["small.obo", "--scopes", "EXAKT"], "CN118"),
        (["mesh_supplementary.tsv", "--id", "1", "--name", "2", "--separator", ""], "CN006"),
    ],
)
def test_bad_input_is_one_line_and_leaves_the_old_file(invoke, refused, tmp_path, arguments, code):
    name, *settings = arguments
    out = tmp_path / "out.jsonl"
    out.write_text("what was there before")
    refused(invoke("ontology", DATA / name, out, *settings), code)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert out.read_text() == "what was there before"
