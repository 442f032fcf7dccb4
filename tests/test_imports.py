"""The house's order: who may import whom, how light an import is, how long a file may grow."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "spacy_connorm"

# Everybody may import `errors` and `about`, and a room its own modules.
MAY_IMPORT = {
    "__init__": {"concepts"},
    "about": set(),
    "errors": set(),
    "files": set(),
    "licence": {"files"},
    "settings": set(),
    "requirements": set(),
    "concepts": {"files", "licence"},
    "joined": set(),
    "mentions": {"concepts"},
    "calibration": {"concepts", "settings"},
    "text": {"concepts"},
    "ontology": {"concepts", "files", "licence", "text"},
    "corpora": {"concepts", "files", "mentions", "text"},
    "encoders": {"joined"},
    "recent": set(),
    "index": {"concepts", "files", "joined", "recent", "settings"},
    "sieve": {"concepts", "encoders", "index", "text"},
    "preparation": {"encoders", "index", "text"},
    "synonyms": {"index", "preparation", "settings", "text"},
    "explanation": {"concepts"},
    "memo": {"concepts", "index", "preparation", "sieve"},
    "answers": {"concepts", "index", "memo", "preparation", "recent", "sieve"},
    "lookup": {
        "answers",
        "concepts",
        "explanation",
        "index",
        "memo",
        "preparation",
        "settings",
        "sieve",
        "synonyms",
        "text",
    },
    "readings": {"calibration", "concepts", "explanation", "lookup", "settings", "text"},
    "annotated": {"definitions", "mentions", "text"},
    "archive": {"encoders", "index", "lookup", "memo"},
    "spans": {"concepts"},
    "definitions": {"text"},
    "resolver": {"definitions", "text"},
    "scorer": {"concepts", "mentions"},
    "kb": {"index", "spans"},
    "component": {
        "annotated",
        "archive",
        "calibration",
        "concepts",
        "definitions",
        "encoders",
        "explanation",
        "lookup",
        "mentions",
        "readings",
        "requirements",
        "settings",
        "spans",
    },
    "factory": {"component"},
    "evaluation": {
        "calibration",
        "concepts",
        "encoders",
        "index",
        "joined",
        "lookup",
        "mentions",
        "preparation",
        "sieve",
        "spans",
        "text",
    },
    "training": {"concepts", "encoders", "files", "mentions", "settings", "text"},
}
# They prepare and judge pipelines; one that runs does without.
NOT_RUNNING = {"ontology", "corpora", "training", "evaluation", "cli"}
# A table of messages, which is read by its codes.
MAY_BE_LONG = {"errors.py"}
MAX_LINES = 300

HEAVY = (
    *("torch", "transformers", "spacy_transformers", "onnxruntime"),
    *("annoy", "faiss", "sklearn", "scipy"),
)
REFUSE_HEAVY = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY}:
            raise ImportError(f"{{name}} is imported")

sys.meta_path.insert(0, Refuse())
"""


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(path: Path) -> Iterator[str]:
    package = ("spacy_connorm", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            modules = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            modules = [(*module, alias.name) for alias in node.names]
        else:
            continue
        for name, *inside in modules:
            if name == "spacy_connorm" and inside:
                yield inside[0]


def named(paths: list[Path]) -> list:
    return [pytest.param(path, id=path.relative_to(PACKAGE).as_posix()) for path in paths]


@pytest.mark.parametrize("path", named(files()))
def test_rooms_import_only_what_they_may(path):
    own = room(path)
    allowed = MAY_IMPORT.get(own, set()) | {own, "about", "errors"}
    found = set(imported_rooms(path))
    if own == "cli":
        assert found <= {*MAY_IMPORT, "cli"}
    else:
        assert found <= allowed


def test_every_room_is_in_the_table():
    assert {room(path) for path in files()} == {*MAY_IMPORT, "cli"}


@pytest.mark.parametrize("entrance", ["factory", "kb", "resolver", "scorer"])
def test_a_running_pipeline_needs_no_preparation(entrance):
    reached, waiting = set(), [entrance]
    while waiting:
        current = waiting.pop()
        reached.add(current)
        waiting.extend(MAY_IMPORT[current] - reached)
    assert not reached & NOT_RUNNING


@pytest.mark.parametrize("path", named(files()))
def test_no_file_grows_too_long(path):
    lines = path.read_text(encoding="utf8").count("\n")
    assert lines <= MAX_LINES or path.name in MAY_BE_LONG


@pytest.mark.parametrize("module", ["factory", "cli", "kb", "resolver", "scorer"])
def test_nothing_heavy_is_imported(module):
    script = f"{REFUSE_HEAVY}\nimport spacy_connorm.{module}"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
