"""The tables of the benchmarks' pages are those that `make pages` makes."""

import importlib.util
import re
import tomllib

import pytest

from .pages import DOCS

SCRIPT = DOCS / "benchmarks" / "make_pages.py"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("make_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tables(pages):
    return tomllib.loads(pages.TABLES.read_text(encoding="utf8"))


def test_pages_are_what_the_data_say(pages, tables):
    for page in pages.PAGES:
        text = page.read_text(encoding="utf8")
        assert pages.make_page(text, tables) == text, f"{page.name} is old: make pages"


def test_every_table_has_a_page_and_every_file_a_table_or_a_link(pages, tables):
    shown = "".join(page.read_text(encoding="utf8") for page in pages.PAGES)
    assert [name for name in tables if f"<!-- table {name} -->" not in shown] == []
    used = {file for table in tables.values() for file in table["rows"]}
    linked = set(re.findall(r"\(data/(\w+\.json)\)", shown))
    assert used | linked == {path.name for path in (DOCS / "benchmarks" / "data").iterdir()}


def test_what_stands_behind_a_new_place_is_kept(pages, monkeypatch):
    monkeypatch.setattr(pages, "make_table", lambda table: table)
    place = "<!-- table {} -->\n<!-- end -->\n"
    text = f"{place.format('a')}words\n{place.format('b')}"
    made = pages.make_page(text, {"a": "| A |", "b": "| B |"})
    kept = "<!-- table {} -->\n\n| {} |\n\n<!-- end -->\n"
    assert made == f"{kept.format('a', 'A')}words\n{kept.format('b', 'B')}"
    assert pages.make_page(made, {"a": "| A |", "b": "| B |"}) == made


def test_a_table_by_hand(pages, monkeypatch):
    rows = [
        {"search": "O-T", "corpus": "a", "score": 90.0, "+-": 0.25},
        {"search": "O-T", "corpus": "b", "score": 80.04},
        {"search": "D-T", "corpus": "b", "score": 70.0},
        {"search": "D-T", "corpus": "c", "score": 60.0},
    ]
    monkeypatch.setattr(pages, "read_rows", lambda name: rows)
    table = {
        "rows": ["any"],
        "where": {"corpus": ["a", "b"]},
        "columns": {"by": "search"},
        "across": {"key": "corpus", "values": ["b", "a"]},
        "cell": ["{score} ± {+-}", "{score}"],
    }
    made = pages.make_table(table).splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in made] == [
        ["by", "b", "a"],
        ["---", "----", "----------"],
        ["O-T", "80.0", "90.0 ± 0.2"],
        ["D-T", "70.0", "-"],
    ]
