"""The list of commands without their modules."""

import subprocess
import sys

from typer.main import get_command

from spacy_connorm.cli import app
from spacy_connorm.cli.modules import read_summaries

HELP = """
import sys
sys.argv = ["connorm", "--help"]
from spacy_connorm.cli import app
try:
    app()
finally:
    assert "spacy" not in sys.modules
"""


def test_the_list_has_all_commands_with_the_first_lines_of_their_docstrings():
    commands = get_command(app).commands
    # Those follow the order in which their modules were imported.
    assert read_summaries().keys() == commands.keys()
    for name, summary in read_summaries().items():
        assert (commands[name].help or "").partition("\n")[0] == summary


def test_the_list_is_shown_without_spacy():
    result = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert all(name in result.stdout for name in read_summaries())


def test_all_commands_are_there_after_one_of_their_modules_was_imported(without_torch):
    script = (
        "import spacy_connorm.cli.check; from spacy_connorm.cli import app;"
        "from typer.main import get_command; print(*get_command(app).commands, sep=',')"
    )
    command = [sys.executable, "-c", script]
    shown = subprocess.run(command, capture_output=True, text=True, env=without_torch, check=True)
    assert set(shown.stdout.strip().split(",")) == set(read_summaries())
