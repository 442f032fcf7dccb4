from pathlib import Path

import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.concepts.ontology import read_licence

DATA = Path(__file__).parent.parent / "data" / "ontologies"


def test_ontology_prints_counts(invoke, words, tmp_path):
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
        "concepts: 2",
    ):
        assert line in words(result)


def test_licence_setting_and_doubtful_input(invoke, words, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out.jsonl"
    table.write_text("id;name;above\nT:1;one;T:9\nT:2;ONE;T:2\n;none;\n")
    options = ("--delimiter", ";", "--parents", "above", "--licence", "Mine, ask first.")
    assert "--max-odd" in words(invoke("ontology", table, out, *options))
    options += ("--max-odd", "0.5")
    result = invoke("ontology", table, out, *options)
    assert result.exit_code == 0, result.output
    assert read_licence(out) == "Mine, ask first."
    for text in (
        "CNW110",
        "skipped 1",
        "CNW103",
        "CNW104",
        "Names of several concepts 1 first: one",
    ):
        assert text in words(result)


@pytest.mark.parametrize(
    ("arguments", "concepts"),
    [
        (["META", "--languages", "SPA,ENG", "--semantic-types", "T184", "--no-hierarchy"], 2),
        (["META", "--languages", "", "--tradenames", "--sources", "RXNORM"], 2),
        (["mesh_descriptors.tsv", "--tree", DATA / "mesh_tree.tsv"], 3),
        (["mesh_descriptors.tsv", "-f", "tsv", "--no-header", "--id", "1", "--name", "2"], 3),
        (["icd10cm_order.txt", "--tabular", DATA / "icd10cm_tabular.xml"], 5),
        (["small.obo", "--scopes", "EXACT, BROAD"], 2),
    ],
)
def test_ontology_takes_the_options_of_each_format(invoke, words, tmp_path, arguments, concepts):
    name, *settings = arguments
    out = tmp_path / "out.jsonl"
    result = invoke("ontology", DATA / name, out, *settings)
    assert result.exit_code == 0, result.output
    assert f"(concepts: {concepts})" in words(result)
    assert len(Ontology.from_disk(out)) == concepts


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere.obo"], "CN100"),
        (["small.obo", "--languages", "ENG"], "CN113"),
        (["mesh_supplementary.tsv"], "CN127"),
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


OLD = Ontology([Concept("A", "a"), Concept("B", "b")])
NEW = Ontology([Concept("B", "bee", alt_ids=("A",)), Concept("C", "c")])


def test_a_new_release_is_shown_beside_the_command_that_converts(invoke, words, tmp_path):
    OLD.to_disk(tmp_path / "old.jsonl")
    NEW.to_disk(tmp_path / "new.jsonl")
    (tmp_path / "own.tsv").write_text("one\tA\ntwo\tX\n")
    result = invoke(
        "ontology",
        "diff",
        tmp_path / "old.jsonl",
        tmp_path / "new.jsonl",
        "--synonyms",
        tmp_path / "own.tsv",
        "--moved",
        tmp_path / "moved.tsv",
    )
    shown = words(result)
    assert result.exit_code == 0, result.output
    assert "Concepts added 1" in shown and "Concepts renamed 1" in shown
    assert "alternate id" in shown and "two X unknown" in shown
    assert "Synonyms with the same id: 0, with a new one: 1" in shown
    assert (tmp_path / "moved.tsv").read_text() == "one\tB\t1\n"
    assert invoke("ontology", tmp_path / "old.jsonl", tmp_path / "again.jsonl").exit_code == 0


def test_bad_input_of_releases(invoke, refused, tmp_path):
    OLD.to_disk(tmp_path / "old.jsonl")
    missing = ("ontology", "diff", tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    refused(invoke(*missing), "CN100")
    own = ("ontology", "diff", tmp_path / "old.jsonl", tmp_path / "old.jsonl")
    refused(invoke(*own, "--moved", tmp_path / "moved.tsv"), "CN733")
    assert invoke("ontology", "diff", tmp_path / "old.jsonl").exit_code == 2


def test_what_was_joined_is_printed(invoke, words, refused, tmp_path):
    first, second, out = (tmp_path / f"{name}.jsonl" for name in ("first", "second", "out"))
    Ontology([Concept("A:1", "one", xrefs=("X:1",)), Concept("A:2", "two")]).to_disk(first)
    Ontology([Concept("B:1", "uno", xrefs=("X:1",))]).to_disk(second)
    (tmp_path / "second.jsonl.licence.txt").write_text("Be kind.\n")
    result = invoke("join", first, second, out)
    assert result.exit_code == 0, result.output
    for line in ("Concepts 2", "Names 3", "... by the only cross-reference 1", "Terms of use:"):
        assert line in words(result)
    assert Ontology.from_disk(out)["B:1"].concept_id == "A:1"
    assert read_licence(out) == "second.jsonl: Be kind."
    refused(invoke("join", first, second, second), "CN121")
    refused(invoke("join", first, tmp_path / "out.txt"), "CN708")


BABELON = (
    "subject_id\ttranslation_language\ttranslation_value\n"
    "DEMO:0000006\tfr\tInfarctus du myocarde\n"
    "DEMO:0000008\tde\tRhythmusstörung\n"
)


@pytest.mark.parametrize("values", [["fr", "en"], ["fr,en"]])
@pytest.mark.parametrize("out", ["out.jsonl", "out"])
def test_an_option_may_have_several_values(invoke, monkeypatch, values, out):
    given = {}
    monkeypatch.setattr("spacy_connorm.cli.ontology.convert_ontology", given.update)
    tables = ["a.babelon.tsv", "b.tsv.gz"]
    options = ("--translations", *tables, "--language", *values)
    invoke("ontology", "in.obo", *options, out)
    assert (given["language"], str(given["output_path"])) == (("fr", "en"), out)
    assert [*map(str, given["translations"])] == tables


def test_index_prints_the_names_by_language(invoke, words, tmp_path, demo_ontology):
    table = tmp_path / "demo-fr.babelon.tsv"
    table.write_text(BABELON)
    options = ("--encoder", "ngrams", "--translations", table, "--language", "fr")
    result = invoke("index", demo_ontology, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    for line in ("Names in fr 1", "Left out: a translation into another language 1"):
        assert line in words(result)


def test_what_was_learned_is_printed(invoke, words, refused, tmp_path):
    path, out = tmp_path / "kidney.jsonl", tmp_path / "table.tsv"
    names = [("kidney cyst", "renal cyst"), ("kidney stone", "renal stone"), ("fever",)]
    Ontology(Concept(f"K:{n}", own[0], own[1:]) for n, own in enumerate(names)).to_disk(path)
    result = invoke("substitutions", path, out)
    assert result.exit_code == 0, result.output
    for line in ("kidney renal 2 0", "Read concepts: 3, names: 5", "substitutions: 1"):
        assert line in words(result)
    assert out.read_text() == "words\tothers\tsame\tdifferent\nkidney\trenal\t2\t0\n"
    refused(invoke("substitutions", path, path), "CN121")
    refused(invoke("substitutions", tmp_path / "none.jsonl", out), "CN100")


def test_a_table_without_rows_is_told(invoke, words, tmp_path):
    path, out = tmp_path / "fever.jsonl", tmp_path / "table.tsv"
    Ontology([Concept("K:1", "fever")]).to_disk(path)
    result = invoke("substitutions", path, out)
    assert result.exit_code == 0, result.output
    assert "No words are used in place of each other often enough" in words(result)
    assert "substitutions: 0" in words(result)
