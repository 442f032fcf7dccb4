"""The house's order: who may import whom, and how light an import is."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import spacy

from spacy_connorm import Concept, Ontology

PACKAGE = Path(__file__).parent.parent / "spacy_connorm"

# Every room may import `errors` and `about`, and its own modules. Each imports exactly these.
IMPORTS = {
    "__init__": set(),
    "about": set(),
    "errors": set(),
    "files": set(),
    "lang": set(),
    "text": {"lang"},
    "concepts": {"files"},
    "documents": {"concepts", "files", "text"},
    "encoders": {"files", "lang", "text"},
    "index": {"concepts", "encoders", "files", "text"},
    "linker": {"concepts", "encoders", "files", "index", "lang", "text"},
    "finder": {"concepts", "documents", "files", "index", "lang", "linker", "text"},
    "ontology": {"concepts", "files", "text"},
    "pipeline": {
        "concepts",
        "documents",
        "encoders",
        "files",
        "finder",
        "index",
        "lang",
        "linker",
        "text",
    },
    "evaluation": {
        "concepts",
        "documents",
        "encoders",
        "files",
        "index",
        "linker",
        "pipeline",
        "text",
    },
    "training": {
        "concepts",
        "documents",
        "encoders",
        "evaluation",
        "files",
        "index",
        "lang",
        "linker",
        "pipeline",
        "text",
    },
    "workflows": {
        "concepts",
        "documents",
        "encoders",
        "evaluation",
        "files",
        "index",
        "lang",
        "linker",
        "ontology",
        "pipeline",
        "text",
        "training",
    },
    "server": {"concepts", "documents", "files", "linker", "workflows"},
}
# They prepare and judge pipelines; one that runs does without.
NOT_RUNNING = {"ontology", "training", "evaluation", "workflows", "server", "cli"}
# Tests are named after the module they test; these are of what several modules do together.
TOGETHER = {
    "lang/test_assertions.py",
    "lang/test_neutral.py",
    "lang/test_no_language_in_code.py",
    "lang/test_phrases.py",
    "lang/test_tables.py",
    "index/test_rebuilding.py",
    "index/vectors/test_metric.py",
    "linker/test_inner_products.py",
    "linker/test_snapshots.py",
    "server/test_page.py",
    *(
        f"pipeline/test_{each}.py"
        for each in (
            "changed_settings",
            "damage",
            "hybrid_pipeline",
            "initialize",
            "mention_interpretations",
            "multiprocessing",
            "normalizer_link",
        )
    ),
    "training/objectives/test_objectives.py",
    "training/test_grounded_training.py",
    "training/test_ranked_training.py",
    "training/test_resume.py",
}

HEAVY = (
    "torch",
    "transformers",
    "spacy_transformers",
    "onnxruntime",
    "annoy",
    "faiss",
    "sklearn",
    "scipy",
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


def imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    """What a file imports of the package, also inside functions, after `spacy_connorm`."""
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
                yield tuple(inside)


def imported_rooms(path: Path) -> Iterator[str]:
    return (inside[0] for inside in imported_modules(path))


def imported_files(path: Path) -> set[Path]:
    named = (PACKAGE.joinpath(*inside) for inside in imported_modules(path))
    places = {each.with_suffix(".py") for own in named for each in (own, own.parent)}
    return {place for place in places if place.is_file()}


def test_no_files_import_each_other():
    circles = TopologicalSorter({path: imported_files(path) - {path} for path in files()})
    assert len(list(circles.static_order())) == len(files())


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


def test_tests_mirror_the_package():
    tests = Path(__file__).parent
    others = set()
    for room in (*IMPORTS, "cli"):
        for path in (tests / room).rglob("test_*.py"):
            name = path.relative_to(tests)
            if not (PACKAGE / name).with_name(name.name.removeprefix("test_")).exists():
                others.add(name.as_posix())
    assert others == TOGETHER


def test_nothing_heavy_is_imported():
    names = ("factory", "abbreviation_resolver", "scorer")
    modules = ["cli.modules", "workflows.corrections", *(f"pipeline.{name}" for name in names)]
    imports = "\n".join(f"import spacy_connorm.{module}" for module in modules)
    script = f"{REFUSE_HEAVY}\n{imports}\nspacy_connorm.cli.modules.import_commands()"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_what_a_dense_pipeline_asks_needs_no_scipy():
    modules = ("linker.linking", "linker.lookup", "encoders.dan.encoder", "index.backends.auto")
    imports = ", ".join(f"spacy_connorm.{module}" for module in modules)
    script = f"{REFUSE_HEAVY}\nimport {imports}"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def loaded_modules(tmp_path_factory, without_torch):
    """How many of our modules a fresh interpreter has after each line of a script."""
    folder = tmp_path_factory.mktemp("saved") / "pipeline"
    nlp = spacy.blank("en")
    encoder = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    index = {"@misc": "spacy-connorm.ExactIndex.v1"}
    normalizer = nlp.add_pipe("concept_normalizer", config={"encoder": encoder, "index": index})
    normalizer.initialize(lambda: [], ontology=Ontology([Concept("C1", "cold", ("chill",))]))
    nlp.to_disk(folder)
    script = f"""
import sys, spacy
def count():
    print(sum(name.startswith("spacy_connorm") for name in sys.modules))
spacy.blank("en")
count()
assert spacy.load({str(folder)!r}).get_pipe("concept_normalizer").candidates(["a cold"])[0]
count()
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=without_torch
    )
    assert result.returncode == 0, result.stderr
    return list(map(int, result.stdout.split()))


def test_a_start_of_spacy_loads_few_modules(loaded_modules):
    assert loaded_modules[0] <= 12


def test_a_pipeline_that_links_loads_few_modules(loaded_modules):
    assert loaded_modules[1] <= 92
