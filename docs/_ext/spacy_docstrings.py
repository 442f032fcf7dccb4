"""spaCy's docstrings, as Sphinx reads them.

`name (Type): meaning.`, `RETURNS (Type): meaning.`, `YIELDS`, `RAISES` and `WARNS` become field
lists; text in single backticks becomes code, with a link where the name is documented; indented
equations stay as they are.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FIELD = re.compile(
    r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \((?P<type>.+?)\))?: (?P<meaning>.*)"
)
_EQUATION = "    "
_OUTCOMES = ("RETURNS", "YIELDS", "RAISES", "WARNS")
_GENERATED = re.compile(r"Create new instance of \w+\(.*\)|Alias for field number \d+")
_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_MARKUP = re.compile(r"([\\*|]|_(?!\w))")


class Field(NamedTuple):
    """One field of a docstring.

    names (str): `RETURNS` and the like, or the names of parameters.
    type (str): Its type; empty if there is none.
    meaning (str): The text, on one line.
    """

    names: str
    type: str
    meaning: str


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}


def skip(
    app: "Sphinx", what: str, name: str, thing: Any, is_skipped: bool, options: Any
) -> bool | None:
    """RETURNS (Optional[bool]): True for fields of named tuples, which the class describes; None
    for all else. The parameters are Sphinx's.
    """
    is_generated = _GENERATED.fullmatch(getattr(thing, "__doc__", None) or "")
    return True if is_generated else None


def process(
    app: "Sphinx", what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Rewrite a docstring in place; the parameters are Sphinx's."""
    lines[:] = list(convert(lines))


def convert(lines: list[str]) -> Iterator[str]:
    """Rewrite a docstring.

    lines (List[str]): The docstring, without its indentation.
    YIELDS (str): reStructuredText.
    """
    in_fields = False
    for paragraph in _paragraphs(lines):
        if _GENERATED.fullmatch(paragraph[0]):
            continue
        fields = _fields(paragraph)
        if fields:
            if not in_fields:
                yield ""
            for field in fields:
                yield from _to_rst(field)
        elif all(line.startswith(_EQUATION) for line in paragraph):
            yield from ("", "::", "", *paragraph)
        else:
            yield ""
            yield from to_code("\n".join(paragraph)).split("\n")
        in_fields = bool(fields)
    yield ""


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """YIELDS (List[str]): Lines between empty ones; fields apart from text before them."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        starts_fields = _match(line) and paragraph and not _match(paragraph[0])
        if paragraph and (not line.strip() or starts_fields):
            yield paragraph
            paragraph = []
        if line.strip():
            paragraph.append(line)


def _match(line: str) -> re.Match | None:
    found = _FIELD.fullmatch(line)
    # One name without a type is prose, such as "Example: ...".
    is_field = found and (found["type"] or set("*,") & set(found["names"]))
    return found if is_field else None


def _fields(paragraph: list[str]) -> list[Field]:
    fields: list[Field] = []
    for line in paragraph:
        found = _match(line)
        if found:
            fields.append(Field(found["names"], found["type"] or "", found["meaning"]))
        elif fields:
            last = fields[-1]
            fields[-1] = last._replace(meaning=f"{last.meaning} {line.strip()}")
    return fields


def _to_rst(field: Field) -> Iterator[str]:
    meaning = to_code(field.meaning)
    kind = _escape(field.type)
    if field.names == "RETURNS":
        yield from (f":returns: {meaning}", f":rtype: {kind}")
    elif field.names == "RAISES":
        yield f":raises {kind}: {meaning}"
    elif field.names in _OUTCOMES:
        yield f":{field.names.capitalize()}: *{kind}* – {meaning}"
    else:
        for name in field.names.split(", "):
            yield f":param {_escape(name)}: {meaning}"
            if kind:
                yield f":type {_escape(name)}: {kind}"


def to_code(text: str) -> str:
    """Turn backticks into roles, and escape what reStructuredText would read as markup.

    text (str): Prose with code in backticks.
    RETURNS (str): reStructuredText.
    """
    parts, end = [], 0
    for found in _CODE.finditer(text):
        parts.append(_escape(text[end : found.start()]))
        code = found[2]
        role = f":py:obj:`{code}`" if _NAME.fullmatch(code) else f"``{code}``"
        # Markup must end at a word's end.
        before = "\\ " if text[: found.start()][-1:].isalnum() else ""
        after = "\\ " if text[found.end() :][:1].isalnum() else ""
        parts.append(f"{before}{role}{after}")
        end = found.end()
    return "".join([*parts, _escape(text[end:])])


def _escape(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)
