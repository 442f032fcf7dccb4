"""Tables of the docs hold what there is: settings with their defaults, fields, formats."""

import inspect
import json
import re
from dataclasses import MISSING, fields
from importlib.metadata import entry_points

import pytest
import spacy
from typer.main import get_command

import spacy_connorm
from spacy_connorm import ontology
from spacy_connorm.cli import app
from spacy_connorm.concepts import Candidate
from spacy_connorm.documents import CORPUS_FORMATS
from spacy_connorm.evaluation.mistakes import KINDS
from spacy_connorm.pipeline.factory import DEFAULTS
from spacy_connorm.pipeline.presets import PRESETS
from spacy_connorm.pipeline.settings import (
    AssertionSettings,
    FinderSettings,
    NormalizerSettings,
    ResolverSettings,
)
from spacy_connorm.training.config import Training, TrainingData

from .pages import DOCS, PAGES, README, ROOT, codes, commands, connorm_command, extras, table, text

TRAINING = DOCS / "train.md"
SETTINGS = DOCS / "settings.md"
# A field of a docstring: its name and what it means.
FIELD = re.compile(r"^(\w+) \(.+?\): (.+(?:\n    .+)*)", re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def test_the_readme_is_short():
    assert len(text(README).splitlines()) <= 150
    assert {"make demo", "make test"} <= {" ".join(words) for words in commands(README)}


def test_the_readme_leads_to_every_page():
    listed = [page for page in PAGES if page.parent == DOCS and page.stem != "index"]
    assert listed
    assert not [page.name for page in listed if f"(docs/{page.name})" not in text(README)]


@pytest.mark.parametrize(
    ("component", "declared"),
    [
        ("concept_normalizer", NormalizerSettings),
        ("mention_finder", FinderSettings),
        ("abbreviation_resolver", ResolverSettings),
        ("assertion_marker", AssertionSettings),
    ],
)
def test_every_setting_is_in_the_table_as_it_is_declared(component, declared):
    rows = {codes(row[0])[0]: row for row in table(SETTINGS, f"setting of `{component}`")}
    told = dict(FIELD.findall(inspect.getdoc(declared)))
    assert list(told) == list(declared.model_fields)
    for name in declared.model_fields:
        _, default, meaning = rows.pop(name)
        # Long lists are described.
        assert not codes(default) or json.loads(codes(default)[0]) == declared.defaults()[name]
        plain = LINK.sub(r"\1", meaning)
        assert f"{plain[0].upper()}{plain[1:]}." == " ".join(told[name].split())
    # Of the others the table names what is registered.
    parts = {name: DEFAULTS[name] for name in rows} if component == "concept_normalizer" else {}
    assert rows.keys() == parts.keys()
    for name, value in parts.items():
        kinds = [each for key, each in dict(value or {}).items() if key.startswith("@")]
        assert codes(rows[name][1]) == ([kind[len("spacy-connorm.") :] for kind in kinds] or ["[]"])


def test_every_preset_is_in_its_table():
    rows = {codes(name)[0]: codes(settings) for name, settings, _ in table(SETTINGS, "preset")}
    assert rows == {
        name: [
            key if isinstance(value, dict) else f"{key} = {json.dumps(value)}"
            for settings in components.values()
            for key, value in settings.items()
        ]
        for name, components in PRESETS.items()
    }


@pytest.mark.parametrize(
    ("page", "heading", "group"),
    [
        (SETTINGS, "encoder | settings", "spacy_architectures"),
        (DOCS / "scale.md", "`index`", "spacy_misc"),
    ],
)
def test_every_encoder_and_index_has_its_settings(page, heading, group):
    known = {
        entry.name.removeprefix("spacy-connorm."): entry
        for entry in entry_points(group=group)
        if entry.name.startswith("spacy-connorm.")
        and ("Encoder" in entry.name or "Index" in entry.name)
    }
    rows = {
        codes(row[0])[0].removeprefix("spacy-connorm."): row[-1] for row in table(page, heading)
    }
    assert rows.keys() == known.keys()
    for name, cell in rows.items():
        takes = set(inspect.signature(known[name].load()).parameters)
        told = set(codes(cell))
        assert told <= takes
        # Of an index all of them; of an encoder those that most users need.
        assert told == takes or group == "spacy_architectures"


def test_every_field_of_a_candidate_is_in_its_table():
    rows = table(DOCS / "linking.md", "field of a candidate")
    assert sorted(name for row in rows for name in codes(row[0])) == sorted(Candidate._fields)


@pytest.mark.parametrize("block", [TrainingData, Training])
def test_every_setting_of_a_training_is_in_its_table(block):
    name = {TrainingData: "data", Training: "training"}[block]
    rows = table(TRAINING, f"setting of `[{name}]`")
    assert {codes(row[0])[0]: row[1] for row in rows} == {
        field.name: default_of(field) for field in fields(block)
    }


def default_of(field) -> str:
    return "" if field.default is MISSING else f"`{json.dumps(field.default)}`"


def test_every_config_and_registered_name_is_in_the_page_on_training():
    trained = [
        path.name
        for path in (ROOT / "assets").glob("*.cfg")
        if "\n[training]\n" in path.read_text(encoding="utf8")
    ]
    assert trained and all(f"(../assets/{name})" in text(TRAINING) for name in trained)
    for registry, group in (("losses", "thinc_losses"), ("batchers", "spacy_batchers")):
        ours = {point.name for point in entry_points(group=group) if "connorm" in point.name}
        assert ours and all(spacy.registry.has(registry, name) for name in ours)
        assert not [name for name in ours if f"`{name.partition('.')[2]}`" not in text(TRAINING)]


@pytest.mark.parametrize(
    ("page", "heading", "formats", "command"),
    [
        ("ontologies.md", "format | for", ontology.FORMATS, "ontology"),
        ("annotated.md", "format | what it is", CORPUS_FORMATS, "corpus"),
    ],
)
def test_every_format_and_its_options_are_in_their_table(page, heading, formats, command):
    rows = table(DOCS / page, heading)
    assert sorted(codes(row[0])[0] for row in rows) == sorted(formats)
    declared = get_command(app).commands[command].params  # type: ignore[attr-defined]
    options = {each for param in declared for each in (*param.opts, *param.secondary_opts)}
    assert {option for row in rows for option in codes(row[-1])} <= options


def test_every_extra_is_in_the_table():
    told = [name for row in table(DOCS / "install.md", "extra") for name in codes(row[0])]
    assert sorted(told) == sorted(extras())


def test_every_kind_of_error_is_in_the_table():
    rows = table(DOCS / "evaluation.md", "kind")
    assert [row[0] for row in rows] == list(KINDS)


def test_every_command_is_shown():
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    shown = {
        connorm_command(words, known)[0]
        for page in PAGES
        for words in commands(page)
        if "connorm" in words
    }
    assert shown - {"--help"} == known


def test_every_command_and_its_function_are_in_the_table():
    rows = table(DOCS / "commands.md", "command | function")
    known = get_command(app).commands  # type: ignore[attr-defined]
    assert sorted(codes(row[0])[0] for row in rows) == sorted(known)
    assert all(callable(getattr(spacy_connorm, each)) for row in rows for each in codes(row[1]))


def test_every_command_is_in_the_changelog():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    (listed,) = (line for line in changes.splitlines() if line.startswith("- `connorm`"))
    assert set(codes(listed)[2:]) == set(get_command(app).commands)  # type: ignore[attr-defined]
