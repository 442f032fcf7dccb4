import pytest

from spacy_connorm.cli import app

COMMANDS = [command.name for command in app.registered_commands]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(invoke, words, name):
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert f"Example: python -m spacy connorm {name}" in words(result)
