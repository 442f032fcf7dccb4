"""The house's order: who may import whom, how light an import is, how long a file may grow."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "spacy_connorm"

# Every room may import `errors` and `about`, and its own modules. Each imports exactly these.
IMPORTS = {
    "__init__": set(),
    "about": set(),
    "errors": set(),
    "files": set(),
    "text": set(),
    "concepts": {"files"},
    "encoders": {"text"},
    "annotations": {"concepts", "text"},
    "ontology": {"concepts", "files", "text"},
    "corpora": {"annotations", "files"},
    "index": {"concepts", "encoders", "files"},
    "linker": {"concepts", "encoders", "files", "index", "text"},
    "pipeline": {"annotations", "concepts", "encoders", "files", "index", "linker", "text"},
    "evaluation": {
        *("annotations", "concepts", "encoders", "files", "index", "linker", "text"),
        "pipeline",
    },
    "training": {
        *("annotations", "concepts", "encoders", "files", "index", "linker", "text"),
        "evaluation",
    },
}
# They prepare and judge pipelines; one that runs does without.
NOT_RUNNING = {"ontology", "corpora", "training", "evaluation", "cli"}
# A table of messages, which is read by its codes.
MAY_BE_LONG = {"errors.py"}
MAX_LINES = 310

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


def test_rooms_import_what_the_table_says():
    found = {room(path): set() for path in files()}
    for path in files():
        found[room(path)] |= set(imported_rooms(path)) - {room(path), "about", "errors"}
    # The commands may import anything.
    assert found.pop("cli") <= IMPORTS.keys()
    assert found == IMPORTS


def test_only_the_dev_score_evaluates_in_training():
    assert {
        path.name
        for path in (PACKAGE / "training").rglob("*.py")
        if "evaluation" in imported_rooms(path)
    } == {"dev_score.py"}


def test_a_running_pipeline_needs_no_preparation():
    reached, waiting = set(), ["pipeline"]
    while waiting:
        current = waiting.pop()
        reached.add(current)
        waiting.extend(IMPORTS[current] - reached)
    assert not reached & NOT_RUNNING


def test_no_file_grows_too_long():
    lengths = {path: path.read_text(encoding="utf8").count("\n") for path in files()}
    long = {path.name for path, lines in lengths.items() if lines > MAX_LINES}
    assert long <= MAY_BE_LONG


@pytest.mark.parametrize(
    "module",
    ["cli", *(f"pipeline.{name}" for name in ("factory", "kb", "abbreviation_resolver", "scorer"))],
)
def test_nothing_heavy_is_imported(module):
    script = f"{REFUSE_HEAVY}\nimport spacy_connorm.{module}"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
