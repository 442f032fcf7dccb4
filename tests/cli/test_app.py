"""What all commands have in common."""

import inspect
import os
import re
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

import spacy_connorm
from spacy_connorm import evaluation, workflows
from spacy_connorm.cli import app
from spacy_connorm.cli.app import show_table
from spacy_connorm.documents import CORPUS_FORMATS, EXPORT_FORMATS
from spacy_connorm.ontology.formats import FORMATS, find_reader
from spacy_connorm.ontology.translations import Translations

COMMANDS = get_command(app).commands
FUNCTIONS = {
    "annotate": spacy_connorm.annotate,
    "check": spacy_connorm.check,
    "corpus": spacy_connorm.convert_corpus,
    "corrections": spacy_connorm.convert_corrections,
    "encoder": spacy_connorm.save_encoder,
    "evaluate": spacy_connorm.evaluate,
    "index": spacy_connorm.build_index,
    "join": spacy_connorm.join_ontologies,
    "substitutions": spacy_connorm.learn_substitutions,
    "map": spacy_connorm.map_terms,
    "models": spacy_connorm.build_models,
    "ontology": spacy_connorm.convert_ontology,
    "ontology diff": spacy_connorm.diff_ontologies,
    "save": spacy_connorm.save_pipeline,
    "search": spacy_connorm.search,
    "serve": spacy_connorm.serve,
    "train": spacy_connorm.train,
}
TRANSLATIONS = {field.name for field in fields(Translations)}
# Settings of the format that is read or written, and of translations.
OPTIONS = {
    "annotate": {
        *(
            name
            for form in EXPORT_FORMATS.values()
            for name in inspect.signature(form.make_exporter).parameters
        ),
        *inspect.signature(spacy_connorm.annotate_corpus).parameters,
    },
    "corpus": {
        name
        for form in CORPUS_FORMATS.values()
        for name in inspect.signature(form.read).parameters.keys() - {"path", "report"}
    },
    "index": TRANSLATIONS,
    "ontology": TRANSLATIONS.union(
        *(
            inspect.signature(find_reader(form)).parameters.keys() - {"path", "report"}
            for form in FORMATS
        )
    ),
}
# What the terminal shows while a function works, and the function that explains.
SHOWN = {"search": {"explain"}, "serve": {"verbose"}}
# What functions call meanwhile; settings of a config, which stand among a command's arguments; and
# bounds that few will change.
CALLED = {
    "train": {"observer", "overrides"},
    "index": {"overrides", "on_training"},
    "models": {"on_built"},
    "serve": {"on_start", "limits"},
}
# What commands read from standard input, or write to the screen, if it is not given.
READ = {"search": {"mentions"}, "annotate": {"output_path"}}


def parameters(function):
    return {
        parameter.name: parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    }


def test_the_summary_tells_what_there_is_to_do(invoke, words):
    summary = words(invoke("--help")).partition("Commands:")[0]
    for task in ("train", "index", "search", "annotate", "map", "evaluate", "serve"):
        assert task in summary


def test_help_of_an_ontology_is_read_without_the_code():
    helps = {param.name: param.help for param in COMMANDS["ontology"].params}
    assert helps["header"] == "tsv: Whether the first row names the columns."
    for name in ("sources", "semantic_types"):
        assert helps[name].startswith("rrf: Keep only")
    assert all(helps.values())


def test_each_command_is_told_in_one_short_sentence():
    told = [command.get_short_help_str() for command in COMMANDS.values()]
    assert all(each.endswith(".") and ". " not in each and len(each) < 70 for each in told)


def test_help_keeps_what_stands_in_brackets(invoke, words):
    assert "[detected from ONTOLOGY]" in words(invoke("index", "--help"))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(invoke, words, name):
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert f"Example: connorm {name}" in words(result)
    assert not re.search(r"list\[|read_rows|FORMATS|or a pipeline\.", words(result))
    # Users of commands know no Python.
    named = {part for name in re.findall(r"`([\w.]+)`", words(result)) for part in name.split(".")}
    assert not named & {*dir(spacy_connorm), *dir(evaluation), *dir(workflows)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_function_takes_what_the_command_takes(name):
    options = {parameter.name for parameter in COMMANDS[name].params} - SHOWN.get(name, set())
    taken = parameters(FUNCTIONS[name]).keys() - CALLED.get(name, set())
    assert options == taken | OPTIONS.get(name, set())


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_are_the_same(name):
    taken = parameters(FUNCTIONS[name])
    for option in COMMANDS[name].params:
        if option.name in taken.keys() - READ.get(name, set()) and not option.required:
            default, other = option.default, taken[option.name].default
            assert (default or None) == (other or None), option.name


@pytest.mark.parametrize(
    "function", [*FUNCTIONS.values(), spacy_connorm.explain, spacy_connorm.calibrate]
)
def test_functions_are_typed_and_documented(function):
    hints = inspect.get_annotations(function)
    assert "return" in hints
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.name in hints
        assert parameter.name in function.__doc__
    assert "RETURNS (" in function.__doc__ and "RAISES (" in function.__doc__


def test_long_cells_are_cut(capsys):
    show_table([("heart attack", 7)], width=12)
    assert "heart attack" in capsys.readouterr().out
    show_table([("heart attack", 7)], width=11)
    assert "heart at..." in capsys.readouterr().out


SEARCH = ("search", "heart attack", "fever", "cough", "-k", "1")


def run(environment, index, *arguments, **options):
    command, *others = arguments
    return subprocess.Popen(
        [sys.executable, "-m", "spacy", "connorm", command, str(index), *others],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_reader_that_left_ends_a_command_without_an_error(demo_index, without_torch):
    read, write = os.pipe()
    os.close(read)
    process = run(without_torch, demo_index, *SEARCH, stdout=write)
    os.close(write)
    assert process.communicate() == (None, "")
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux's")
@pytest.mark.parametrize(
    "arguments",
    [SEARCH, pytest.param(("search", "fever", "--component", "none"), marks=pytest.mark.long)],
)
def test_a_full_disk_behind_the_output(demo_index, without_torch, arguments):
    with Path("/dev/full").open("w") as full:
        process = run(without_torch, demo_index, *arguments, stdout=full)
        _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.count("[CN") == 1 and "Traceback" not in errors
    assert ("CN704" if "none" in arguments else "CN108") in errors


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes in another way")
@pytest.mark.parametrize("module", ["typer", "spacy_connorm.cli.search"])
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(module):
    script = f"""
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

# What a shell starts in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from spacy_connorm.cli import app
try:
    app(["search", "--help"])
except SystemExit:
    print(signal.getsignal(signal.SIGINT))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")
    undisturbed = script.replace(f'"{module}"', '"none"')
    ended = subprocess.run([sys.executable, "-c", undisturbed], capture_output=True, text=True)
    assert "default_int_handler" in ended.stdout
