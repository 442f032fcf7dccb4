"""project.yml, and what setup.cfg and constraints.txt promise."""

import hashlib
import os
import re
import shlex
import shutil
from configparser import ConfigParser
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import spacy
import srsly
from packaging.requirements import Requirement
from spacy.cli import app as spacy_app
from spacy.util import registry
from test_imports import IMPORTS
from typer.main import get_command
from weasel.cli.run import project_run
from weasel.util import load_project_config

import spacy_connorm.cli.in_spacy  # noqa: F401  (adds `connorm` to spaCy's commands)
from spacy_connorm.about import __version__
from spacy_connorm.cli import app
from spacy_connorm.cli.app import parse_overrides
from spacy_connorm.files.configs import read_config
from spacy_connorm.workflows.model_table import read_model_table

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "assets"
STEPS = ["convert", "train_encoder", "index", "assemble", "evaluate", "package"]


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


def test_the_workflows_are_the_documented_ones(project):
    workflows = dict(project["workflows"])
    assert workflows.pop("train") == ["convert", "train_triplet"]
    assert workflows.pop("train_fast") == STEPS[:2]
    assert workflows.pop("all") == STEPS
    assert workflows.pop("demo") == [*STEPS, "install", "annotate"]
    ner = ["convert", "train", "assemble", "package", "install", "evaluate"]
    assert workflows.pop("ner") == [*STEPS[:3], *(f"{step}_ner" for step in ner)]
    training = ["convert", "train_triplet", "assemble_triplet"]
    assert workflows == {"triplet": [*training, *STEPS[4:]]}


def test_every_dependency_is_there_or_was_made_before(project):
    commands = {command["name"]: command for command in project["commands"]}
    data = project["vars"]["data"]
    for steps in project["workflows"].values():
        made = set()
        for name in steps:
            for path in commands[name]["deps"]:
                assert path in made or path.startswith(data) or (ROOT / path).exists(), path
            made.update(commands[name].get("outputs", []))


def test_steps_read_what_they_depend_on_and_write_their_outputs(project):
    for command in project["commands"]:
        script = " ".join(command["script"])
        data = [path for path in command["deps"] if not path.startswith("spacy_connorm/")]
        # What is reached through a config or a package.
        silent = {"training/encoder", "training/index", "training/ner/model-best", "packages"}
        silent.add("packages/en_connorm_demo_ner-0.1.0-py3-none-any.whl")
        for path in [*data, *command.get("outputs", [])]:
            parts = {path.removesuffix("-py3-none-any.whl"), path.removesuffix(".gz")}
            if path.startswith(folder := project["vars"]["data"]):
                parts = {folder}
            assert any(part in script for part in parts) or path in silent, (command["name"], path)


def test_every_line_is_a_command_with_its_options(project):
    for name, arguments in connorm_lines(project):
        assert connorm_context(name, arguments).params


def connorm_lines(project):
    """Name and arguments of each `connorm` line; the others are looked at as well."""
    spacy_commands = get_command(spacy_app).commands
    for command in project["commands"]:
        for line in command["script"]:
            python, first, module, name, *arguments = shlex.split(line)
            assert python == "python"
            if first != "-m":
                assert (ROOT / first).is_file()
                continue
            assert module in ("pip", "gzip") or (module == "spacy" and name in spacy_commands)
            if name == "connorm":
                yield arguments[0], arguments[1:]


def connorm_context(name, arguments):
    return get_command(app).commands[name].make_context(name, arguments)


@pytest.mark.parametrize("kind", ["train", "index"])
def test_any_config_of_the_kind_will_do(project, kind):
    section = {"train": "training", "index": "components"}[kind]
    configs = [
        path
        for path in ASSETS.glob("*.cfg")
        if f"\n[{section}]\n" in path.read_text()
        and not path.name.startswith("ner-")  # for `spacy train`
    ]
    lines = [arguments for name, arguments in connorm_lines(project) if name == kind]
    assert len(configs) >= 3 and lines
    for arguments in lines:
        overrides = parse_overrides(connorm_context(kind, arguments))
        for path in configs:
            if "paths.encoder" in overrides and path.name == "ngram.cfg":
                continue  # it has no weights to compare
            assert read_config(path, overrides)[section]


def test_downloads_lie_where_the_benchmark_reads_them(project):
    folder = "assets/benchmark"
    commands = {command["name"]: command for command in project["commands"]}
    wanted = {
        path.replace(project["vars"]["data"], folder)
        for path in commands["benchmark"]["deps"]
        if path.startswith(project["vars"]["data"])
    }
    fetched = {row["dest"] for row in project["assets"] if row["dest"].startswith(folder)}
    packed = set(commands["download"]["outputs"])
    assert len(wanted) == 3
    assert {path.removesuffix(".gz") for path in packed} <= fetched
    assert wanted <= fetched | packed


def test_missing_data_are_named(tmp_path, capsys):
    shutil.copy(ROOT / "project.yml", tmp_path)
    with pytest.raises(SystemExit):
        project_run(tmp_path, "benchmark", overrides={"vars.data": "nowhere"})
    assert "nowhere/medic_2012/medic_06Jul2012.txt.gz" in capsys.readouterr().out


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


def test_downloads_that_are_not_extra_are_what_the_models_read(project):
    folder = "assets/benchmark/"
    table = read_model_table(ASSETS / "models.toml")
    files = [file for model in table.models.values() for file in model.files.values()]
    names = [file for file in files if isinstance(file, str)]
    names += [name for file in files if not isinstance(file, str) for name in file]
    names += [model.ontology for model in table.models.values()]
    names += [corpus.path for corpus in table.corpora.values()]
    wanted = {f"{folder}{name.removesuffix('.gz')}" for name in names}
    fetched = {
        asset["dest"].removesuffix(".gz"): asset.get("extra", False)
        for asset in project["assets"]
        if "url" in asset
    }
    assert {dest for dest, extra in fetched.items() if not extra} == wanted & fetched.keys()
    # These have no address.
    assert {Path(dest).name for dest in wanted - fetched.keys()} == {
        "omim_dev.pubtator.txt",
        "clinical_dev.pubtator",
        "es_notes_dev.pubtator",
        "fr_notes_dev.pubtator",
    }


@pytest.mark.apart
def test_every_entry_point_leads_somewhere(setup):
    # Makes the registry of its own kind.
    pytest.importorskip("spacy_llm")
    for point in entry_points(setup):
        target = point.load()
        kind = point.group.partition("_")[2]  # of "spacy_readers", "thinc_losses"
        if kind in ("cli", "scripts"):
            assert target is app
        elif kind == "factories":
            assert spacy.Language.has_factory(point.name)
        else:
            assert registry.get(kind, point.name) is target


def test_every_requirement_is_pinned(setup):
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    required = setup["options"]["install_requires"].splitlines()
    for extra in setup["options.extras_require"].values():
        required += extra.splitlines()
    names = set(map(distribution, required)) - {""}
    assert names and names <= set(map(distribution, pinned))


def read_pinned(name):
    """Name and version, the rest of the line, and the hashes of each requirement in a file."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines
    return {line.split()[0]: re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line) for line in lines}


def test_make_installs_only_what_is_pinned_with_hashes():
    lines = (ROOT / "Makefile").read_text(encoding="utf8").splitlines()
    (install,) = (line for line in lines if line.startswith("INSTALL :="))
    assert {"--no-deps", "--no-build-isolation"} <= set(install.split())
    assert "PINNED := $(INSTALL) --require-hashes --requirement" in lines
    used = [
        line
        for line in lines
        if line.startswith("\t") and re.search("pip install|INSTALL\\)", line)
    ]
    assert used == ["\t$(INSTALL) --editable ."]
    files = set(re.findall(r"\$\(PINNED\) requirements/(\S+)", "\n".join(lines)))
    assert files == {path.name for path in (ROOT / "requirements").glob("*.txt")}
    for name in files:
        for requirement, hashes in read_pinned(name).items():
            assert re.fullmatch(r"[\w.-]+==[\w.]+", requirement) and hashes, requirement


def test_pins_with_and_without_hashes_are_the_same():
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    names = ("development.txt", "apart.txt", "docs.txt")
    pinned = {line for name in names for line in read_pinned(name)}
    assert pinned == {line for line in constraints if not line.startswith("#")}
    assert read_pinned("build.txt").items() <= read_pinned("development.txt").items()


def test_torch_and_transformers_are_above_versions_with_known_holes(setup):
    lines = setup["options.extras_require"]["transformers"].strip().splitlines()
    allowed = {requirement.name: requirement.specifier for requirement in map(Requirement, lines)}
    assert not allowed["torch"].contains("2.9.1")  # CVE-2026-24747
    assert not allowed["transformers"].contains("4.52.4")  # CVE-2025-5197 and others


def distribution(requirement):
    """The name in one line of requirements; empty for a line without one."""
    name = re.match(r"[A-Za-z][\w.-]*", requirement)
    return re.sub(r"[-_.]+", "-", name[0].lower()) if name else ""


def test_the_table_of_rooms_is_the_one_that_is_held():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
    table = text[text.index("| room |") : text.index("A running pipeline imports")]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:] if line]
    told = {
        name.strip("/"): {room.strip("/") for room in re.findall(r"`(.+?)`", " ".join(allowed))}
        for rooms, _, *allowed in rows
        for name in re.findall(r"`(.+?)`", rooms)
    }
    assert told.pop("cli") == set()
    anywhere = {"__init__", "about", "errors"}
    assert told == {room: may for room, may in IMPORTS.items() if room not in anywhere}


def test_the_files_where_changes_go_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
    rows = re.findall(r"^\| (an? .+?|the .+?|overlapping .+?) \| `(.+?)`", text, re.MULTILINE)
    assert len(rows) == 15
    assert [file for _, file in rows if not (ROOT / file).is_file()] == []


# What contributors expect to find


def read_yaml(name):
    return srsly.read_yaml(ROOT / name)


def test_the_citation_names_this_version(setup):
    citation = read_yaml("CITATION.cff")
    assert citation["version"] == __version__
    assert citation["license"] == setup["metadata"]["license"]


def test_the_workflow_runs_every_python_and_system_that_is_promised(setup):
    prefix = "Programming Language :: Python :: 3."
    lines = setup["metadata"]["classifiers"].splitlines()
    promised = [f"3.{line.removeprefix(prefix)}" for line in lines if line.startswith(prefix)]
    job = read_yaml(".github/workflows/ci.yml")["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == promised
    assert job["strategy"]["matrix"]["os"] == ["ubuntu", "macos", "windows"]
    assert job["steps"][-1] == {"run": ".ci/run"}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_hooks_run_the_linters_of_make_lint():
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    entries = " ".join(hook["entry"] for hook in repository["hooks"])
    lines = re.findall(r"\$\(RUN\) -m ((?:ruff|mypy) \S+)", (ROOT / "Makefile").read_text())
    assert len(lines) == 3
    for line in lines:
        assert f"python -m {line}" in entries


def test_a_bug_report_asks_for_the_output_of_check():
    form = read_yaml(".github/ISSUE_TEMPLATE/bug.yml")
    required = [
        part["attributes"]["label"]
        for part in form["body"]
        if part.get("validations", {}).get("required")
    ]
    assert "`connorm check PIPELINE`" in required
