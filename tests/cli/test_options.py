"""Commands take what their functions and formats take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from spacy_connorm.cli.options import options_of


def read_tables(path: Path, *, columns: Sequence[str] = ("id",), header: bool = True) -> None:
    """Read tables.

    path (Path): The file.
    columns (Sequence[str]): What the columns hold,
        e.g. ids. More of it.
    header (bool): Whether there is a header.
    """


@dataclass
class Writer:
    """Writes.

    header (bool): Whether to write one.
    system, other (str): The system; any if None.
    """

    header: bool = False
    system: str = ""
    other: str = ""


def convert(
    input_paths: Sequence[str | Path],
    output_path: str | Path,
    *,
    types: Sequence[str] = (),
    extra: Sequence[Path] = (),
    size: int = 3,
    top: int | str | None = None,
    quick: bool = True,
    on_row: Callable | None = None,
    **options: Any,
) -> None:
    """Convert files.

    input_paths (Sequence[Union[str, Path]]): The files.
    output_path (Union[str, Path]): The result.
    types (Sequence[str]): Types; see `Types`. Not this.
    size (int): How many, e.g. `3`. Not this.
    """


@pytest.fixture
def calls():
    return []


@pytest.fixture
def app(calls):
    made = typer.Typer()

    @made.command()
    @options_of(
        convert,
        formats={"tables": read_tables, "writer": Writer},
        flags={"size": "-s", "top": "--best -b"},
        help={"top": "The best."},
        hidden=("on_row",),
    )
    def run(quick: str = typer.Option("yes", "--quick"), **given: Any) -> None:
        """Convert."""
        calls.append({**given, "quick": quick})

    return made


@pytest.fixture
def given(app, calls):
    def run(*arguments):
        result = CliRunner().invoke(app, ["in", "also", "out", *arguments])
        assert result.exit_code == 0, result.output
        return calls.pop()

    return run


def test_what_is_not_given_is_left_to_the_function(given):
    files = {"input_paths": [Path("in"), Path("also")], "output_path": Path("out")}
    assert given() == {**files, "extra": [], "size": 3, "quick": "yes"}


def test_what_is_given_has_the_type_of_the_parameter(given):
    arguments = "--types a,,b --extra e --extra f -s 4 -b x --quick no --columns= --no-header"
    found = given(*arguments.split(), "--system", "s")
    assert found["types"] == ("a", "b") and found["columns"] == ()
    assert found["extra"] == [Path("e"), Path("f")] and found["size"] == 4
    assert (found["top"], found["quick"]) == ("x", "no")
    assert (found["header"], found["system"]) == (False, "s")


def test_help_is_the_first_sentence(app):
    helps = {param.name: param.help for param in get_command(app).params}
    assert helps["types"] == "Types; see `Types`."
    assert helps["size"] == "How many, e.g. `3`."
    assert helps["columns"] == "tables: What the columns hold, e.g. ids. [id]"
    assert helps["header"] == "tables: Whether there is a header. writer: Whether to write one."
    assert helps["system"] == helps["other"] == "writer: The system; any if not given."
    assert helps["top"] == "The best."
