"""The API reference names what there is, and spaCy's docstrings become what Sphinx reads."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

import spacy_connorm

from .pages import DOCS, text

API = sorted((DOCS / "api").glob("*.md"))
DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto\w+):: (\S+)", flags=re.MULTILINE)


def documented() -> Iterator[Any]:
    for page in API:
        module = None
        for directive, entry in DIRECTIVE.findall(text(page)):
            if directive == "currentmodule":
                module = import_module(entry)
            else:
                yield getattr(module, entry)


def public_packages() -> list[str]:
    found = walk_packages(spacy_connorm.__path__, "spacy_connorm.")
    return [
        "spacy_connorm",
        *(each.name for each in found if each.ispkg and "cli" not in each.name),
    ]


@pytest.fixture
def convert(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS / "_ext"), *sys.path])
    return import_module("spacy_docstrings").convert


def test_every_entry_has_a_docstring_and_stands_once():
    entries = list(documented())
    assert entries and all(entry.__doc__ for entry in entries)
    assert len(set(map(id, entries))) == len(entries)


@pytest.mark.parametrize("package", public_packages())
def test_every_public_name_is_in_the_reference(package):
    module = import_module(package)
    entries = set(map(id, documented()))
    pages = "".join(map(text, API))
    for each in set(module.__all__) - {"__version__"}:
        thing = getattr(module, each)
        is_listed = id(thing) in entries if callable(thing) else f"`{each}`" in pages
        assert is_listed, each


def test_fields_become_field_lists(convert):
    docstring = """Find concepts.

texts (Sequence[str]): b texts; an empty one
    has none.
**limits (Limits): As in `Settings`.
RETURNS (List[str]): b lists.
RAISES (ConnormError): CN006 for a bad `top_k`.
WARNS (ConnormWarning): CNW001.
"""
    assert "\n".join(convert(docstring.split("\n"))).split("\n") == [
        "",
        "Find concepts.",
        "",
        ":param texts: b texts; an empty one has none.",
        ":type texts: Sequence[str]",
        r":param \*\*limits: As in :py:obj:`Settings`.",
        r":type \*\*limits: Limits",
        ":returns: b lists.",
        ":rtype: List[str]",
        ":raises ConnormError: CN006 for a bad :py:obj:`top_k`.",
        ":Warns: *ConnormWarning* – CNW001.",
        "",
    ]


def test_text_keeps_its_meaning(convert):
    docstring = ["Repeat D until |D| / |O| is `a * b`; kb_id_ stays, `Doc`s too. Example: none."]
    assert list(convert(docstring)) == [
        "",
        r"Repeat D until \|D\| / \|O\| is ``a * b``; kb_id\_ stays, :py:obj:`Doc`\ s too. "
        "Example: none.",
        "",
    ]


def test_equations_stay_as_they_are(convert):
    docstring = ["The loss is:", "", "    log(1 + a * |b|)", "", "The mean of all."]
    equation = ["::", "", "    log(1 + a * |b|)"]
    assert list(convert(docstring)) == [
        "",
        "The loss is:",
        "",
        *equation,
        "",
        "The mean of all.",
        "",
    ]


def test_what_python_writes_itself_is_left_out(convert):
    assert list(convert(["Alias for field number 0"])) == [""]
