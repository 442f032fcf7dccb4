"""The API reference names what there is, and spaCy's docstrings become what Sphinx reads."""

import re
import sys
from importlib import import_module

import pytest

from .pages import DOCS, name, text

API = sorted((DOCS / "api").glob("*.md"))
DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto\w+):: (\S+)", flags=re.MULTILINE)


@pytest.fixture
def convert(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS / "_ext"), *sys.path])
    return import_module("spacy_docstrings").convert


@pytest.mark.parametrize("page", API, ids=name)
def test_every_entry_is_there_and_has_a_docstring(page):
    module = None
    for directive, entry in DIRECTIVE.findall(text(page)):
        if directive == "currentmodule":
            module = import_module(entry)
        else:
            assert getattr(module, entry).__doc__, entry


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
        *("", "Find concepts.", ""),
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
