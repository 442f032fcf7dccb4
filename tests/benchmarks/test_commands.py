"""Every command starts, and no command imports another one."""

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DOCS = BENCHMARKS.parent / "docs" / "benchmarks"
COMMANDS = sorted(BENCHMARKS.glob("*.py"))


def test_every_command_has_help_with_an_example(modules, monkeypatch, capsys):
    for path in COMMANDS:
        monkeypatch.setattr(sys, "argv", [str(path), "--help"])
        with pytest.raises(SystemExit) as exit:
            runpy.run_path(str(path), run_name="__main__")
        assert exit.value.code == 0
        shown = capsys.readouterr().out
        assert "--json FILE" in shown
        assert f"python benchmarks/{path.name}" in " ".join(shown.split()), path.name


def test_commands_import_only_what_is_shared():
    names = {path.stem for path in COMMANDS}
    for path in BENCHMARKS.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf8"))
        nodes = list(ast.walk(tree))
        imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        imported |= {
            name.name for node in nodes if isinstance(node, ast.Import) for name in node.names
        }
        assert not names & imported, path.name


def test_the_readme_leads_from_every_command_to_a_page_that_runs_it():
    text = (BENCHMARKS / "README.md").read_text(encoding="utf8")
    rows = re.findall(r"\| \[.*\]\(\.\./docs/benchmarks/(\w+\.md)\) \| `(\w+\.py)", text)
    assert sorted(command for _, command in rows) == [path.name for path in COMMANDS]
    for page, command in rows:
        assert f"python benchmarks/{command}" in (DOCS / page).read_text(encoding="utf8"), command
