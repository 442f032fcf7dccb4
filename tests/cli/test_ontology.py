from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_connorm.cli import app
from spacy_connorm.cli.ontology import convert_ontology
from spacy_connorm.concepts import Ontology
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.licence import read_licence

DATA = Path(__file__).parent.parent / "data" / "ontologies"
DEMO = Path(__file__).parents[2] / "assets" / "demo_ontology.obo"


def run(*arguments):
    return CliRunner().invoke(app, ["ontology", *map(str, arguments)])


def lines(result):
    """The output without the line breaks that a narrow terminal puts into messages."""
    return " ".join(result.output.split())


def test_counts_are_printed_and_the_licence_is_kept(tmp_path):
    out = tmp_path / "new" / "small.jsonl.gz"
    result = run(DATA / "small.obo", out)
    assert result.exit_code == 0
    for line in (
        "Concepts 2",
        "Names 4 2.0 a concept",
        "Ids, alternate ones included 4",
        "Links to parents 1",
        "Left out: an obsolete term 1 first: T:3",
        "Left out: a synonym of scope BROAD 1 first: 'pain' of T:2",
    ):
        assert line in lines(result)
    ontology = Ontology.from_disk(out)
    assert ontology["T:20"].canonical_name == 'head, neck and "face" pain'
    assert ontology.source.licence == "Licence: free for tests."


def test_licence_setting_and_doubtful_input(tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out.jsonl"
    table.write_text("id;name;above\nT:1;one;T:9\nT:2;ONE;T:2\n;none;\n")
    result = run(
        table, out, "--delimiter", ";", "--parents", "above", "--licence", "Mine, ask first."
    )
    assert result.exit_code == 0
    assert read_licence(out) == "Mine, ask first."
    for text in ("CNW102", "CNW103", "CNW104", "Names of several concepts 1 first: one"):
        assert text in lines(result)


@pytest.mark.parametrize(
    ("arguments", "concepts"),
    [
        (["META", "--languages", "SPA,ENG", "--semantic-types", "T184", "--no-hierarchy"], 2),
        (["META", "--languages", "", "--tradenames", "--suppressed", "--sources", "RXNORM"], 2),
        (["META", "-f", "rrf"], 4),
        (["mesh_descriptors.tsv", "--tree", DATA / "mesh_tree.tsv"], 3),
        (["mesh_descriptors.tsv", "-f", "tsv", "--no-header", "--id", "1", "--name", "2"], 3),
        (["mesh_supplementary.tsv", "--id", "mesh_scr_id"], 2),
        (["icd10cm_order.txt", "--tabular", DATA / "icd10cm_tabular.xml"], 5),
        (["small.obo", "--scopes", "EXACT, BROAD", "--types", "subset", "--obsolete"], 3),
        (["ctd_diseases.tsv"], 3),
        (["medic.txt"], 3),
    ],
)
def test_every_format_and_its_settings(tmp_path, arguments, concepts):
    name, *settings = arguments
    out = tmp_path / "out.jsonl"
    result = run(DATA / name, out, *settings)
    assert result.exit_code == 0, result.output
    assert f"Wrote {concepts} concepts" in lines(result)
    assert len(Ontology.from_disk(out)) == concepts


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere.obo"], "CN100"),
        (["small.obo", "--format", "owl"], "CN110"),
        (["small.obo", "--format", "jsonl"], "CN112"),
        (["small.obo", "--languages", "ENG"], "CN113"),
        (["mesh_supplementary.tsv"], "CN114"),
        (["small.obo", "--scopes", "EXAKT"], "CN118"),
    ],
)
def test_bad_input_is_one_line_and_leaves_the_old_file(tmp_path, arguments, code):
    name, *settings = arguments
    out = tmp_path / "out.jsonl"
    out.write_text("what was there before")
    result = run(DATA / name, out, *settings)
    assert result.exit_code == 1
    assert f"[{code}]" in result.output and "Traceback" not in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert out.read_text() == "what was there before"


def test_a_file_that_breaks_off_leaves_the_old_one(tmp_path):
    old, broken = tmp_path / "old.jsonl", tmp_path / "broken.jsonl"
    convert_ontology(DATA / "small.obo", old)
    before = old.read_bytes()
    broken.write_bytes(before + b"{")
    with pytest.raises(ConnormError, match="CN103"):
        convert_ontology(broken, old)
    assert old.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "broken.jsonl",
        "old.jsonl",
        "old.jsonl.licence.txt",
    ]


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    for out, code in (
        (tmp_path / "file" / "out.jsonl", "CN108"),
        (tmp_path / "folder.jsonl", "CN105"),
        (tmp_path / "out.obo", "CN120"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_ontology(DATA / "small.obo", out)


def test_repeated_ids_are_counted(tmp_path):
    twice = tmp_path / "twice.jsonl"
    convert_ontology(DATA / "small.obo", twice)
    twice.write_text(twice.read_text() * 2)
    with pytest.warns(ConnormWarning, match="CNW101"):
        summary = convert_ontology(twice, tmp_path / "out.jsonl").summary
    assert (summary.concepts, summary.repeated_ids.count) == (4, 2)


def test_help_has_an_example():
    assert "Example: python -m spacy connorm ontology" in lines(run("--help"))


def test_the_demo_ontology_is_sound_and_ambiguous(tmp_path, recwarn):
    summary, _, licence = convert_ontology(DEMO, tmp_path / "demo.jsonl")
    assert not [warning for warning in recwarn if warning.category is ConnormWarning]
    assert 60 <= summary.concepts <= 100
    assert summary.shared_names.count >= 4
    assert licence.startswith("MIT")
    ontology = Ontology.from_disk(tmp_path / "demo.jsonl")
    meanings = [concept for concept in ontology if "MS" in concept.names]
    assert {kind for concept in meanings for kind in concept.types} == {"disease", "drug"}
