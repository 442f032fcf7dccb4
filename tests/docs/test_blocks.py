"""What the README and the docs show runs: Python as it stands, commands and configs as far as
their names and settings go.
"""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import huggingface_hub
import pytest
import spacy
from click import Command
from spacy.cli import app as spacy_app
from spacy.util import registry
from thinc.api import Config
from typer.main import get_command
from weasel.util import load_project_config

import spacy_connorm
import spacy_connorm.cli.in_spacy
from spacy_connorm.cli import app
from spacy_connorm.cli.app import parse_overrides
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer
from spacy_connorm.pipeline.mention_finder import MentionFinder

from .fake_hub import FakeHub
from .pages import (
    PAGES,
    README,
    ROOT,
    blocks,
    commands,
    connorm_command,
    extras,
    name,
    with_parents,
)

# Pages whose commands read downloaded data; the tests of the benchmarks run them.
MEASURED = "docs/benchmarks/"
PROGRAMS = {"awk", "connorm", "python", "pip", "make", "export", "torchrun", "mkdir"}
# Packages of recipes that are not installed here.
FOREIGN = {"pyspark"}


# One of its recipes needs spacy-llm.
RECIPES = ROOT / "docs" / "recipes.md"


def with_blocks(language: str) -> list:
    return [pytest.param(page, id=name(page)) for page in PAGES if blocks(page, language)]


def with_python() -> list:
    return [
        pytest.param(*page.values, id=page.id, marks=pytest.mark.apart)
        if page.values == (RECIPES,)
        else page
        for page in with_blocks("python")
    ]


def with_commands() -> list:
    return [page for page in with_blocks("bash") if not page.id.startswith(MEASURED)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs the Python of a page, in a folder of its own, and gives its names."""
    ran: dict[Path, dict] = {}
    # It keeps the function that it finds when it is first imported, so that must not be the fake.
    import_module("transformers.utils.hub")

    def run_page(page: Path) -> dict:
        if page == RECIPES:
            pytest.importorskip("spacy_llm")
        if page not in ran:
            folder = tmp_path_factory.mktemp("page")
            (folder / "assets").symlink_to(ROOT / "assets")
            ran[page] = {"__name__": "page"}
            hub = FakeHub(folder / "hub")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                patch.setattr(huggingface_hub, "HfApi", lambda: hub)
                patch.setattr(huggingface_hub, "snapshot_download", hub.snapshot_download)
                for block in blocks(page, "python"):
                    exec(compile(block, name(page), "exec"), ran[page])
        return ran[page]

    return run_page


@pytest.mark.parametrize("page", with_python())
def test_python_runs_in_the_order_of_reading(page, run, capsys):
    run(page)
    if "print(" in "".join(blocks(page, "python")):
        assert capsys.readouterr().out.strip()


def test_the_first_answer_is_right(run):
    doc = run(README)["doc"]
    answers = {ent.text: ent.kb_id_ for ent in doc.ents}
    assert answers == {"feels dizzy": "C0012833", "MI": "C0027051", "sunburn": "NIL"}
    (shown,) = blocks(README, "text")
    first = [(ent, ent._.candidates[0]) for ent in doc.ents]
    assert shown.splitlines() == [
        f"{ent.text} {ent.kb_id_} {best.score:.2f} {best.text}" for ent, best in first
    ]


def test_a_word_is_not_a_mention_for_the_reason_that_it_says(run):
    why = run(ROOT / "docs" / "mentions.md")["why"]
    assert not why.is_mention
    assert why.names == ("WAS",) and "short" in why.reason


def test_abbreviations_and_composites_are_read_as_it_says(run):
    names = run(ROOT / "docs" / "linking.md")
    assert [(ent.text, ent._.long_form, ent.kb_id_) for ent in names["doc"].ents] == [
        ("head spinning", None, "C0012833"),
        ("HS", "head spinning", "C0012833"),
        ("HS", "head spinning", "C0012833"),
        ("vertigo and heart attack", None, "C0012833|C0027051"),
    ]
    found = names["normalizer"].explain(names["doc"].ents[-1]).interpretations
    assert [each.kind for each in found[:2]] == ["parts", "as written"]


def test_a_threshold_makes_nil_as_it_says(run):
    names = run(ROOT / "docs" / "calibration.md")
    answers = {ent.text: ent.kb_id_ for ent in names["doc"].ents}
    assert answers == {"vertigo": "C0012833", "sunburn": "NIL"}
    assert names["normalizer"].cfg["nil_threshold"] is None


def test_synonyms_come_and_go_as_it_says(run):
    normalizer = run(ROOT / "docs" / "synonyms.md")["normalizer"]
    ((first, *_),) = normalizer.candidates(["head spinning"])
    assert (first.concept_id, first.search) == ("C0012833", "D-T")
    assert normalizer.concept("C0027051").aliases == ("heart attack", "MI")
    assert normalizer.candidates(["MI"], top_k=1)[0][0].text != "MI"


@pytest.mark.apart
def test_recipes_do_what_they_say(run):
    names = run(RECIPES)
    found = [
        [(ent.text, ent.kb_id_, ent._.negex, ent._.history) for ent in doc.ents]
        for doc in names["nlp"].pipe(names["notes"])
    ]
    assert found == [
        [("vertigo", "C2", True, False), ("Head pain", "C3", False, False)],
        [
            ("migraine", "C4", False, True),
            ("headache", "C3", False, False),
            ("dizziness", "C2", True, False),
        ],
        [("sick headache", "C4", False, False), ("cold", "C6", False, False)],
    ]
    assert names["itself"] == {"C3": 2, "C4": 1, "C5": 1}
    assert names["at_or_below"] == {"C1": 3, "C3": 3, "C4": 1, "C5": 1}
    assert names["learned"] == [("cold", "C6")]
    chosen = [names["linker"](text).ents[0].kb_id_ for text in ("Snow, ice, cold.", "Cold, cough.")]
    assert chosen == ["C5", "C6"]
    assert [ent.kb_id_ for ent in names["chooser"]("A cold.").ents] == ["C6"]
    assert names["api"].private == {"you/findings": True}


@pytest.mark.apart
def test_tasks_for_annotation_tools_hold_the_mentions(run):
    names = run(RECIPES)
    for task in names["tasks"]:
        text, values = task["data"]["text"], [row["value"] for row in task["data"]["candidates"]]
        (prediction,) = task["predictions"]
        for result in prediction["result"]:
            value = result["value"]
            assert text[value["start"] : value["end"]] == value["text"]
            assert result["from_name"] in ("label", "concept") and result["to_name"] == "text"
            assert set(value.get("choices", ())) <= set(values)
    for question in names["questions"]:
        (span,), tokens = question["spans"], question["tokens"]
        assert tokens[span["token_start"]]["start"] == span["start"]
        assert tokens[span["token_end"]]["end"] == span["end"]
        assert set(question["accept"]) < {option["id"] for option in question["options"]}


@pytest.mark.parametrize("page", with_blocks("py"))
def test_python_that_takes_minutes_calls_what_there_is(page):
    for block in blocks(page, "py"):
        nodes = list(ast.walk(ast.parse(block)))
        sources = {
            alias.name: str(node.module)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        foreign = {name for name, module in sources.items() if module.split(".")[0] in FOREIGN}
        imported = {
            name: import_module(module) for name, module in sources.items() if name not in foreign
        }
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        named = [
            (call, call.func.id)
            for call in calls
            if isinstance(call.func, ast.Name) and call.func.id not in foreign
        ]
        assert named
        for call, function_name in named:
            function = getattr(imported.get(function_name, spacy_connorm), function_name)
            options = {keyword.arg: keyword.value for keyword in call.keywords}
            inspect.signature(function).bind(*call.args, **options)


@pytest.mark.parametrize("page", with_commands())
def test_every_command_and_its_options_exist(page):
    for words in commands(page):
        assert words[0] in PROGRAMS, words
        if "connorm" in words:
            check_connorm(words)
        elif words[:3] == ["python", "-m", "spacy"]:
            check_spacy(*words[3:])


def check_connorm(words: list[str]) -> None:
    group = get_command(app)
    assert isinstance(group.commands, dict)  # type: ignore[attr-defined]
    name, arguments = connorm_command(words, group.commands)
    if name == "--help":
        return
    command: Command = group.commands[name]
    context = command.make_context(name, arguments)
    parse_overrides(context)


def check_spacy(command: str, *words: str) -> None:
    if command == "project":
        check_project(*words)
    else:
        assert command in get_command(spacy_app).commands  # type: ignore[attr-defined]


def check_project(verb: str, *words: str) -> None:
    project = load_project_config(ROOT)
    named = {row["name"] for row in project["commands"]} | set(project["workflows"])
    assert verb == "run" and words[0] in named
    options = [word.removeprefix("--vars.") for word in words if word.startswith("--")]
    assert set(options) <= set(project["vars"])


@pytest.mark.parametrize("page", with_blocks("bash"))
def test_extras_and_targets_exist(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    for words in commands(page):
        if words[:2] == ["pip", "install"]:
            named = [word.partition("[")[2].rstrip("]") for word in words if "[" in word]
            assert {word for group in named for word in group.split(",")} <= extras()
        elif words[0] == "make":
            assert f"\n{words[1]}:" in makefile
        elif words[0] == "python" and words[1].endswith(".py"):
            assert (ROOT / words[1]).exists()


@pytest.mark.usefixtures("name_embed")
@pytest.mark.parametrize("page", with_blocks("ini"))
def test_configs_parse_and_resolve(page):
    for block in blocks(page, "ini"):
        config = Config().from_str(with_parents(block))
        assert config
        for section in registered(config):
            assert registry.resolve({"section": section})["section"] is not None
        for component, settings in config.get("components", {}).items():
            factory = settings.get("factory", component)
            known = spacy.blank("en").get_factory_meta(factory).default_config
            assert settings.keys() - {"factory"} <= known.keys()
        for component, sources in config.get("initialize", {}).get("components", {}).items():
            kind = MentionFinder if component == "mention_finder" else ConceptNormalizer
            takes = inspect.signature(kind.initialize).parameters
            assert sources.keys() <= takes.keys()


def registered(config: dict):
    for section in config.values():
        if isinstance(section, dict):
            if any(key.startswith("@") for key in section):
                yield section
            else:
                yield from registered(section)
