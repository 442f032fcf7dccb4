from pathlib import Path

import pytest

from spacy_connorm.concepts import Concept, Ontology, Source
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.licence import read_licence
from spacy_connorm.ontology import (
    convert_ontology,
    join_ontologies,
    learn_substitutions,
)

DEMO = Path(__file__).parents[2] / "assets" / "demo_ontology.obo"


def test_what_is_converted_is_returned_and_its_licence_kept(data, tmp_path, capsys):
    out = tmp_path / "new" / "small.jsonl.gz"
    summary, report, licence = convert_ontology(data / "small.obo", out)
    assert (summary.concepts, summary.names, summary.ids, summary.parents) == (2, 7, 4, 1)
    left_out = {reason: (kind.count, kind.first) for reason, kind in report.left_out.items()}
    assert left_out["an obsolete term"] == (1, "T:3")
    assert report.scopes == {"EXACT": 2, "BROAD": 1, "NARROW": 1, "RELATED": 1}
    assert licence == "Licence: free for tests."
    ontology = Ontology.from_disk(out)
    assert ontology["T:20"].canonical_name == 'head, neck and "face" pain'
    assert ontology["T:20"].broad == ("pain",)
    assert ontology.source.licence == licence
    assert capsys.readouterr() == ("", "")


def test_the_terms_of_use_are_in_place_before_the_names(data, tmp_path, monkeypatch):
    out = tmp_path / "small.jsonl"
    convert_ontology(data / "small.obo", out, licence="Old.")
    old = out.read_bytes()
    replace = Path.replace

    def stop(part, path):
        if path == out:
            raise KeyboardInterrupt
        return replace(part, path)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        convert_ontology(data / "small.obo", out, licence="New.", obsolete=True)
    assert (out.read_bytes(), read_licence(out)) == (old, "New.")
    with pytest.raises(KeyboardInterrupt):
        convert_ontology(data / "medic.txt", out)
    assert (out.read_bytes(), read_licence(out)) == (old, "New.")
    monkeypatch.undo()
    convert_ontology(data / "medic.txt", out)
    assert read_licence(out) == ""


@pytest.mark.parametrize("write", [join_ontologies, learn_substitutions])
def test_the_terms_of_joined_ontologies_are_in_place_before_them(tmp_path, monkeypatch, write):
    source, out = tmp_path / "mine.jsonl", tmp_path / "out.jsonl"
    Ontology([Concept("T:1", "kidney pain")], source=Source(licence="Mine.")).to_disk(source)

    def stop(part, path):
        assert path != out
        return replace(part, path)

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(AssertionError):
        write([source], out)
    assert not out.exists()
    assert read_licence(out) == "mine.jsonl: Mine."


@pytest.mark.parametrize(
    ("name", "options", "concepts"),
    [
        (
            "META",
            {"languages": ["SPA", "ENG"], "semantic_types": ["T184"], "hierarchy": False},
            2,
        ),
        (
            "META",
            {"languages": (), "tradenames": True, "suppressed": True, "sources": ["RXNORM"]},
            2,
        ),
        ("META", {"format": "rrf"}, 4),
        ("mesh_descriptors.tsv", {"tree": "mesh_tree.tsv"}, 3),
        ("mesh_descriptors.tsv", {"format": "tsv", "header": False, "id": 1, "name": 2}, 3),
        ("mesh_supplementary.tsv", {"id": "mesh_scr_id"}, 2),
        ("icd10cm_order.txt", {"tabular": "icd10cm_tabular.xml"}, 5),
        ("small.obo", {"scopes": ["EXACT", "BROAD"], "types": "subset", "obsolete": True}, 3),
        ("ctd_diseases.tsv", {}, 3),
        ("medic.txt", {}, 3),
    ],
)
def test_every_format_and_its_options(data, tmp_path, monkeypatch, name, options, concepts):
    monkeypatch.chdir(data)
    out = tmp_path / "out.jsonl"
    assert convert_ontology(name, out, **options).summary.concepts == concepts
    assert len(Ontology.from_disk(out)) == concepts


def test_a_file_that_breaks_off_leaves_the_old_one(data, tmp_path):
    old, broken = tmp_path / "old.jsonl", tmp_path / "broken.jsonl"
    convert_ontology(data / "small.obo", old)
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


def test_places_that_cannot_be_written(data, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    for out, code in (
        (tmp_path / "file" / "out.jsonl", "CN108"),
        (tmp_path / "folder.jsonl", "CN105"),
        (tmp_path / "out.obo", "CN708"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_ontology(data / "small.obo", out)


def test_repeated_ids_are_counted(data, tmp_path):
    twice = tmp_path / "twice.jsonl"
    convert_ontology(data / "small.obo", twice)
    twice.write_text(twice.read_text() * 2)
    with pytest.warns(ConnormWarning, match="CNW101"):
        summary = convert_ontology(twice, tmp_path / "out.jsonl").summary
    assert (summary.concepts, summary.repeated_ids.count) == (4, 2)


def test_the_demo_ontology_is_sound_and_ambiguous(tmp_path, recwarn):
    summary, _, licence = convert_ontology(DEMO, tmp_path / "demo.jsonl")
    assert not [warning for warning in recwarn if warning.category is ConnormWarning]
    assert 60 <= summary.concepts <= 100
    assert summary.shared_names.count >= 4
    assert licence.startswith("MIT")
    ontology = Ontology.from_disk(tmp_path / "demo.jsonl")
    meanings = [concept for concept in ontology if "MS" in concept.names]
    assert {kind for concept in meanings for kind in concept.types} == {"disease", "drug"}
