"""What the tests of several commands run on."""

from pathlib import Path

import pytest
from spacy.cli import app
from typer.testing import CliRunner

import spacy_connorm.cli  # noqa: F401

ASSETS = Path(__file__).parent.parent.parent / "assets"
NGRAMS = ("--components.concept_normalizer.encoder.@architectures", "spacy-connorm.NgramEncoder.v1")


def connorm(*arguments):
    """Run a command."""
    return CliRunner().invoke(app, ["connorm", *map(str, arguments)])


@pytest.fixture(scope="session")
def invoke():
    return connorm


@pytest.fixture(scope="session")
def ngrams():
    """Options for an encoder that needs no download."""
    return NGRAMS


@pytest.fixture(scope="session")
def demo_ontology():
    return ASSETS / "demo_ontology.obo"


@pytest.fixture(scope="session")
def demo_index(tmp_path_factory, demo_ontology):
    """What `connorm index` writes for the demo ontology."""
    folder = tmp_path_factory.mktemp("index") / "demo"
    result = connorm("index", demo_ontology, folder, *NGRAMS)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def refused():
    """A function that checks that a command ends in one clear message."""

    def check(result, code):
        assert result.exit_code == 1, result.output
        assert f"[{code}]" in result.output
        assert "Traceback" not in result.output

    return check


@pytest.fixture(scope="session")
def words():
    """A function that gives a command's output without its layout."""
    return lambda result: " ".join(result.output.split())
