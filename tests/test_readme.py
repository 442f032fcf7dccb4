"""The README's promises: its Python runs as it stands, its commands and settings exist."""

import inspect
import re
from pathlib import Path

import pytest
import spacy
from typer.main import get_command

from spacy_connorm.component import ConceptNormalizer

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def namespace() -> dict:
    names: dict = {}
    for block in blocks("python"):
        exec(block, names)
    return names


def test_python_runs_in_the_order_of_reading(namespace, capsys):
    assert len(blocks("python")) >= 3
    assert namespace["nlp"].pipe_names == ["mesh", "hpo"]


def test_first_answer_is_right():
    names: dict = {}
    exec(blocks("python")[0], names)
    answers = {ent.text: ent.kb_id_ for ent in names["doc"].ents}
    assert answers == {"head spinning": "C0012833", "MI": "C0027051"}


def test_every_command_exists():
    from spacy_connorm.cli import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"spacy connorm (\w+)", README))
    assert named and named <= known
    assert known == set(re.findall(r"`(\w+)`", changelog_line("python -m spacy connorm")))


def test_every_setting_is_in_the_table():
    parameters = inspect.signature(ConceptNormalizer).parameters.values()
    settings = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} - {"scorer"}
    table = README[README.index("## Settings") : README.index("## Coming from")]
    assert settings == set(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE))


def test_configs_name_what_is_registered():
    for registry, name in re.findall(r'@(\w+)"?[ =:]+"(spacy-connorm\.[\w.]+)"', README):
        assert spacy.registry.has(registry, name)


def changelog_line(start: str) -> str:
    text = (Path(__file__).parent.parent / "CHANGELOG.md").read_text(encoding="utf8")
    return next(line for line in text.splitlines() if start in line).split(start)[1]
