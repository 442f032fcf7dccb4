"""What the packages hand out: every name is there, nothing heavy is loaded before it is needed."""

import ast
import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from test_imports import REFUSE_HEAVY

PACKAGE = Path(__file__).parents[1] / "spacy_connorm"
HANDING_OUT = sorted(
    ".".join(("spacy_connorm", *stub.parent.relative_to(PACKAGE).parts))
    for stub in PACKAGE.rglob("__init__.pyi")
)
COMMANDS = {
    "convert_ontology",
    "convert_corpus",
    "train",
    "build_index",
    "search",
    "annotate",
    "annotate_corpus",
    "save_encoder",
    "evaluate",
    "calibrate",
    "explain",
    "check",
    "save_pipeline",
    "join_ontologies",
    "learn_substitutions",
    "serve",
    "map_terms",
    "convert_corrections",
    "diff_ontologies",
}


@pytest.mark.parametrize("package", HANDING_OUT)
def test_every_name_is_there_and_listed(package):
    module = importlib.import_module(package)
    assert module.__all__ and set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_packages_are_light():
    script = f"{REFUSE_HEAVY}\nimport {', '.join(HANDING_OUT)}\ndir(spacy_connorm)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_unknown_attributes_are_refused():
    for package in HANDING_OUT:
        assert not hasattr(importlib.import_module(package), "nothing_like_it")


def test_commands_are_functions_at_the_top():
    top = importlib.import_module("spacy_connorm")
    assert set(top.__all__) >= COMMANDS
    assert all(callable(getattr(top, name)) for name in COMMANDS)


def test_no_two_public_things_share_a_name():
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
