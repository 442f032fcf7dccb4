"""The whole job: project.yml makes a wheel, and the wheel is all that a machine needs."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import warnings
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from spacy.cli import app
from typer.testing import CliRunner
from weasel.cli.run import project_run

import spacy_connorm.cli.in_spacy  # noqa: F401  (adds `connorm` to spaCy's commands)
from spacy_connorm.encoders.pretrained import MINILM

ROOT = Path(__file__).parent.parent
NAME = "connorm_test"
LINK_WITHOUT_NETWORK = """
import json
import socket

def refuse(*arguments, **options):
    raise OSError("the network is off")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse

import en_connorm_test

nlp = en_connorm_test.load()
doc = nlp("Admitted with a heart attack. No headache.")
answers = {ent.text: [ent.kb_id_, ent._.candidates[0].name] for ent in doc.ents}
print(json.dumps([answers, en_connorm_test.__file__]))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory, tiny_folder):
    """A copy of the project, in which everything up to the wheel was run."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    for part in ("assets", "spacy_connorm"):
        shutil.copytree(ROOT / part, folder / part)
    training = folder / "assets" / "demo.cfg"
    text = training.read_text(encoding="utf8")
    training.write_text(text.replace(MINILM, str(tiny_folder)), encoding="utf8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weasel.cli.run.run_commands", run_lines)
        project_run(folder, "all", overrides={"vars.name": NAME})
    return folder


@pytest.fixture(scope="module")
def wheel(project):
    (path,) = (project / "packages").glob("*.whl")
    return path


def run_lines(lines, **_):
    """Run a step of the project: spaCy's commands in this process, which has imported it."""
    for line in lines:
        _, _, module, *arguments = shlex.split(line)
        if module == "spacy":
            with warnings.catch_warnings():
                # `spacy package` leaves files open.
                warnings.simplefilter("ignore", ResourceWarning)
                result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, result.output
        else:
            run("-m", module, *arguments)


def run(*arguments, **options):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **options.pop("env", {})}
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, **options
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_pipeline_was_evaluated(project):
    (scores,) = json.loads((project / "metrics" / "test.json").read_text())
    assert scores["mentions"] == 70


def test_the_wheel_asks_for_the_plugin_once(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        required = message_from_bytes(archive.read(name)).get_all("Requires-Dist")
    ours = [line for line in required if line.startswith("spacy-connorm")]
    assert len(ours) == 1
    assert ours[0].startswith("spacy-connorm[onnx]")


def test_the_wheel_links_text_without_network_or_sources(wheel, tmp_path):
    target = tmp_path / "installed"
    options = ("--quiet", "--no-deps", "--no-index", "--target", str(target))
    run("-m", "pip", "install", *options, str(wheel))
    # The same code of ours as above, wherever the environment has it installed from.
    path = os.pathsep.join([str(target), str(ROOT)])
    output = run("-c", LINK_WITHOUT_NETWORK, cwd=tmp_path, env={"PYTHONPATH": path})
    answers, origin = json.loads(output)
    assert answers == {
        "heart attack": ["DEMO:0000006", "myocardial infarction"],
        "headache": ["DEMO:0000057", "headache"],
    }
    assert Path(origin).is_relative_to(target)
