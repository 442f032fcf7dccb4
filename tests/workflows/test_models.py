"""Packages of a table: what is in them, what their cards say, and that they work when installed."""

import json
import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import build_models, models, read_model_table

ROOT = Path(__file__).parents[2]
TABLE = """
version = "1.2.3"

[variants.""]
index = { encoder = "ngrams", find_mentions = true }

[variants._sm]
not_for = ["long words"]
sources = [{ name = "weights", license = "theirs", url = "https://example.com" }]

[variants._sm.index]
encoder = "ngrams"
find_mentions = true

[variants._sm.index.overrides]
"components.concept_normalizer.index.@misc" = "spacy-connorm.ExactIndex.v1"
"components.concept_normalizer.index.compact" = true

[corpora.demo]
path = "demo_test.pubtator"
about = "Sentences"

[corpora.elsewhere]
path = "nowhere.pubtator"
about = "Other sentences"

[models.en_connorm_demo]
ontology = "demo_ontology.obo"
licence = "Made up | free"
homepage = "https://example.org"
corpora = ["demo", "elsewhere"]
not_for = ["anything real"]
"""
SMALL = "en_connorm_demo_sm"
LINK = """
import json, sys, spacy

nlp = spacy.load(sys.argv[1])
doc = nlp("Admitted with a heart attack. No headache.")
told = {ent.text: [ent.kb_id_, ent._.candidates[0].name] for ent in doc.ents}
print(json.dumps([told, str(nlp.path), nlp.meta["name"], nlp.meta["version"]]))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "models.toml").write_text(TABLE)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "_LOADS", 1)
        packages = build_models(
            folder / "models.toml",
            folder / "packages",
            data=ROOT / "assets",
            names=[SMALL],
            json_path=folder / "models.json",
            on_built=seen.append,
        )
    assert seen == packages
    (package,) = packages
    return package


@pytest.fixture(scope="module")
def metadata(built):
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return message_from_bytes(archive.read(name))


def test_only_the_named_package_is_built(built):
    assert built.name == SMALL
    assert [path.name for path in built.wheel.parent.iterdir()] == [
        f"{SMALL}-1.2.3-py3-none-any.whl"
    ]


def test_an_installed_wheel_is_loaded_by_its_name_and_links(built, tmp_path):
    target = tmp_path / "installed"
    options = ("--quiet", "--no-deps", "--no-index", "--target", str(target))
    run("-m", "pip", "install", *options, str(built.wheel))
    path = os.pathsep.join([str(target), str(ROOT)])
    output = run("-c", LINK, SMALL, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    answers, origin, *meta = json.loads(output)
    assert answers == {
        "heart attack": ["DEMO:0000006", "myocardial infarction"],
        "headache": ["DEMO:0000057", "headache"],
    }
    assert Path(origin).is_relative_to(target)
    assert meta == ["connorm_demo_sm", "1.2.3"]


def run(*arguments, **options):
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_card_says_what_it_is_whose_how_good_and_what_not_for(built, metadata):
    card = metadata.get_payload()
    assert metadata["License"] == "Made up | free"
    for told in (
        "demo_ontology.obo",
        "Made up &#124; free",
        "`NgramEncoder.v1`",
        f'spacy.load("{SMALL}")',
        f"{built.row['names']:,}",
        f"{built.scores['demo']['document_f1']:.1f}",
        f"`connorm evaluate {SMALL} demo.spacy --end-to-end`",
        "elsewhere: Other sentences. Not scored, since it was not there.",
        "- anything real\n- long words",
        "- [weights](https://example.com): theirs",
    ):
        assert told in card, told


def test_the_meta_data_have_the_scores_and_the_source(built):
    with zipfile.ZipFile(built.wheel) as archive:
        meta = json.loads(archive.read(f"{SMALL}/meta.json"))
    document_f1 = built.scores["demo"]["document_f1"]
    assert round(100 * meta["performance"]["demo"]["document_f1"], 2) == document_f1
    ontology, weights = meta["sources"]
    assert ontology["url"] == "https://example.org" and ontology["license"] == "Made up | free"
    assert weights == {"name": "weights", "license": "theirs", "url": "https://example.com"}


def test_rows_are_written_for_tables(built):
    (row,) = json.loads((built.wheel.parents[1] / "models.json").read_text())
    assert (row["model"], row["corpus"], row["version"]) == (SMALL, "demo", "1.2.3")
    assert row["document_f1"] > 70 and row["wheel_mb"] > 0


def test_a_wheel_that_cannot_be_built_is_an_error(built, tmp_path, monkeypatch):
    with zipfile.ZipFile(built.wheel) as archive:
        archive.extractall(tmp_path)
    failed = subprocess.CompletedProcess([], 1, stderr="no\nsetuptools")
    monkeypatch.setattr(models.subprocess, "run", lambda *arguments, **options: failed)
    (package, *_) = read_model_table(built.wheel.parents[1] / "models.toml").packages()
    (folder,) = (path.parent for path in tmp_path.rglob("config.cfg"))
    with pytest.raises(ConnormError, match=r"CN740.*en_connorm_demo'.*\(no setuptools\)"):
        models._pack(folder, package, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changed", "to", "told"),
    [
        ('version = "1.2.3"', "", "CN711.*models.toml: version: Field required"),
        ("[variants._sm]\n", "[variants._sm]\ntypo = 1\n", "CN711.*variants._sm.typo: Extra"),
        ("[models.", "[models", "CN711.*models.toml"),
        ("en_connorm_demo", "Demo", "CN006.*'Demo'"),
        ('["demo", ', '["omed", ', "CN118.*en_connorm_demo.corpora.*omed.*demo, elsewhere"),
        ('encoder = "ngrams"\n', 'encodr = "ngrams"\n', "CN118.*_sm.index.*encodr"),
    ],
)
def test_a_wrong_table_is_named_with_its_place(tmp_path, changed, to, told):
    (tmp_path / "models.toml").write_text(TABLE.replace(changed, to))
    with pytest.raises(ConnormError, match=told):
        read_model_table(tmp_path / "models.toml")


def test_an_unknown_package_is_refused_before_any_work(tmp_path):
    (tmp_path / "models.toml").write_text(TABLE)
    with pytest.raises(ConnormError, match=r"CN118.*en_connorm_other.*en_connorm_demo_sm"):
        build_models(tmp_path / "models.toml", tmp_path, names=["en_connorm_other"])


def test_the_table_of_the_project_is_valid_and_its_lines_are_complete():
    table = read_model_table(ROOT / "assets" / "models.toml")
    packages = list(table.packages())
    assert len({package.name for package in packages}) == len(packages) == 14
    assert all(package.not_for and package.model.homepage for package in packages)
