"""project.yml, the configs beside it, and what setup.cfg and constraints.txt promise."""

import hashlib
import re
import shlex
import shutil
from configparser import ConfigParser
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import spacy
from spacy.cli import app as spacy_app
from spacy.util import load_config, load_model_from_config, registry
from typer.main import get_command
from weasel.util import load_project_config

from spacy_connorm.cli import app

ROOT = Path(__file__).parent.parent
CONFIGS = sorted((ROOT / "assets").glob("*.cfg"))
STEPS = ["convert", "train", "index", "assemble", "evaluate", "package"]


@pytest.fixture
def project(tmp_path):
    # Loading makes the project's directories where it lies.
    shutil.copy(ROOT / "project.yml", tmp_path)
    return load_project_config(tmp_path)


@pytest.fixture(scope="module")
def setup():
    parser = ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf8")
    return parser


def entry_points(setup):
    for group, lines in setup["options.entry_points"].items():
        for line in lines.strip().splitlines():
            name, value = line.split(" = ")
            yield EntryPoint(name=name, value=value, group=group)


def test_the_workflows_follow_the_data(project):
    assert project["workflows"] == {"all": STEPS, "demo": [*STEPS, "install", "annotate"]}
    made = set()
    commands = {command["name"]: command for command in project["commands"]}
    for name in project["workflows"]["demo"]:
        for dependency in commands[name]["deps"]:
            assert dependency in made or (ROOT / dependency).exists(), dependency
        made.update(commands[name].get("outputs", []))


def test_every_line_is_a_command_with_its_options(project):
    spacy_commands = get_command(spacy_app).commands
    connorm_commands = get_command(app).commands
    lines = [shlex.split(line) for command in project["commands"] for line in command["script"]]
    for python, minus_m, module, name, *arguments in lines:
        assert (python, minus_m) == ("python", "-m")
        if module == "pip":
            continue
        assert module == "spacy" and name in spacy_commands
        if name == "connorm":
            name, *arguments = arguments
            connorm_commands[name].make_context(name, arguments)


def test_no_path_or_url_is_anything_but_a_variable(project):
    text = (ROOT / "project.yml").read_text(encoding="utf8")
    text = text[text.index("\ncommands:") :]
    values = [str(value) for value in project["vars"].values()]
    assert not [value for value in values if "/" in value and value in text]
    assert "http" not in text


def test_assets_are_the_files_that_come_with_the_project(project):
    own = [asset for asset in project["assets"] if "url" not in asset]
    assert len(own) == 5
    for asset in own:
        content = (ROOT / asset["dest"]).read_bytes()
        assert hashlib.md5(content).hexdigest() == asset["checksum"], asset["dest"]
    assert all(asset["extra"] for asset in project["assets"] if "url" in asset)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_configs_make_pipelines(path):
    nlp = load_model_from_config(load_config(path), auto_fill=True, validate=True)
    assert nlp.pipe_names == ["entity_ruler", "concept_normalizer"]
    initialize = nlp.config.interpolate()["initialize"]["components"]
    assert initialize["concept_normalizer"]["index"] == "training/index/concept_normalizer"
    patterns = registry.resolve(initialize["entity_ruler"])["patterns"]
    ruler = nlp.get_pipe("entity_ruler")
    ruler.initialize(lambda: [], nlp=nlp, patterns=patterns)
    assert [ent.text for ent in ruler(nlp.make_doc("She had a Heart Attack.")).ents]


def test_every_entry_point_leads_somewhere(setup):
    for point in entry_points(setup):
        target = point.load()
        kind = point.group.partition("_")[2]  # of "spacy_readers", "thinc_losses"
        if kind == "cli":
            assert target is app
        elif kind == "factories":
            assert spacy.Language.has_factory(point.name)
        else:
            assert registry.get(kind, point.name) is target


def test_every_requirement_is_pinned(setup):
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    required = setup["options"]["install_requires"].splitlines()
    for extra in setup["options.extras_require"].values():
        required += extra.splitlines()
    names = {re.split(r"[<>=]", line)[0].lower() for line in required if line[:1].isalpha()}
    assert names and names <= pinned
