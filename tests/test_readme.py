"""The README's promises: its Python runs as it stands, its commands and settings exist."""

import json
import re
from dataclasses import MISSING, fields
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import spacy
from thinc.api import Config
from typer.main import get_command

from spacy_connorm.concepts import Candidate
from spacy_connorm.pipeline.factory import DEFAULT_CONFIG
from spacy_connorm.text.normalization import STEPS
from spacy_connorm.training.config import Training, TrainingData

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def namespace() -> dict:
    names: dict = {}
    for block in blocks("python"):
        exec(block, names)
    return names


def test_python_runs_in_the_order_of_reading(namespace, capsys):
    assert len(blocks("python")) >= 3
    assert namespace["nlp"].pipe_names == ["mesh", "hpo"]


def test_first_answer_is_right():
    names: dict = {}
    exec(blocks("python")[0], names)
    answers = {ent.text: ent.kb_id_ for ent in names["doc"].ents}
    assert answers == {"head spinning": "C0012833", "MI": "C0027051"}


def test_abbreviations_and_composites_are_read_as_it_says(namespace):
    found = [(ent.text, ent._.long_form, ent.kb_id_) for ent in namespace["doc"].ents]
    assert found == [
        ("head spinning", None, "C0012833"),
        ("HS", "head spinning", "C0012833"),
        ("HS", "head spinning", "C0012833"),
        ("vertigo and heart attack", None, "C0012833|C0027051"),
    ]
    readings = namespace["normalizer"].explain(namespace["doc"].ents[-1]).readings
    assert [reading.kind for reading in readings[:2]] == ["parts", "as written"]


def test_every_command_exists():
    from spacy_connorm.cli import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"spacy connorm (\w+)", README))
    assert named and named <= known
    assert known == set(re.findall(r"`(\w+)`", changelog_line("python -m spacy connorm")))


def test_every_setting_is_in_the_table():
    settings = Config().from_str(DEFAULT_CONFIG)["concept_normalizer"]
    table = README[README.index("## Settings") : README.index("## Coming from")]
    told = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", table, flags=re.MULTILINE))
    assert told.keys() == settings.keys() - {"scorer"}
    plain = [name for name, value in settings.items() if not isinstance(value, dict)]
    assert {name: json.loads(told[name]) for name in plain} == {
        name: settings[name] for name in plain
    }


def test_every_field_of_a_candidate_is_in_its_table():
    table = README.split("| field of a candidate |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (`.*?`) \|", table, flags=re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(Candidate._fields)


def test_steps_of_normalization_do_what_their_table_says():
    table = README.split("| step |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert [name.strip("`") for name, *_ in rows] == list(STEPS)
    for name, _, before, after in rows:
        assert STEPS[name.strip("`")](before) == after


def test_what_links_lead_to_is_a_section():
    sections = {
        heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", README, re.M)
    }
    named = set(re.findall(r"\]\(#([\w-]+)\)", README))
    assert named and named <= sections


@pytest.mark.parametrize("block", [TrainingData, Training])
def test_every_setting_of_a_training_is_in_its_table(block):
    training = README[README.index("## Train") : README.index("## Evaluate")]
    name = {TrainingData: "data", Training: "training"}[block]
    table = training.split(f"| setting of `[{name}]` |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \|(.*?)\|", table, flags=re.MULTILINE)
    told = {setting: default.strip() for setting, default in rows}
    assert told == {each.name: default_of(each) for each in fields(block)}


def default_of(field) -> str:
    return "" if field.default is MISSING else f"`{json.dumps(field.default)}`"


def test_every_config_and_registered_name_is_in_the_section_on_training():
    training = README[README.index("## Train") : README.index("## Evaluate")]
    trained = [
        path.name
        for path in (ROOT / "assets").glob("*.cfg")
        if "\n[training]\n" in path.read_text(encoding="utf8")
    ]
    assert trained and all(f"(assets/{name})" in training for name in trained)
    for registry, group in (("losses", "thinc_losses"), ("batchers", "spacy_batchers")):
        ours = {point.name for point in entry_points(group=group) if "connorm" in point.name}
        assert ours and all(spacy.registry.has(registry, name) for name in ours)
        assert [name for name in ours if f"`{name.partition('.')[2]}`" not in training] == []


def test_every_file_that_is_named_is_there():
    named = set(re.findall(r"\bassets/[\w.-]+\w", README))
    assert named and not [name for name in named if not (ROOT / name).exists()]


def test_configs_name_what_is_registered():
    for registry, name in re.findall(r'@(\w+)"?[ =:]+"(spacy-connorm\.[\w.]+)"', README):
        assert spacy.registry.has(registry, name)


def changelog_line(start: str) -> str:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    return next(line for line in text.splitlines() if start in line).split(start)[1]
