"""Every message has a code of its own; the package uses it and a test expects it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from spacy_connorm.errors import (
    ConnormError,
    ConnormWarning,
    Errors,
    Warnings,
    require_range,
    tell_reason,
)

ROOT = Path(__file__).parents[1]


def read(folder: str) -> str:
    files = sorted((ROOT / folder).rglob("*.py"))
    return "\n".join(path.read_text(encoding="utf8") for path in files)


@pytest.fixture(scope="module")
def codes() -> list[str]:
    """All codes in `errors.py`, read from its source: in the class a repeated one is lost."""
    source = (ROOT / "spacy_connorm" / "errors.py").read_text(encoding="utf8")
    return re.findall(r"^    (CNW?\d{3}) =", source, re.MULTILINE)


def test_no_code_stands_for_two_messages(codes):
    assert codes
    assert [code for code, count in Counter(codes).items() if count > 1] == []


def test_every_code_is_used_and_every_used_code_exists(codes):
    used = set(re.findall(r"\b(?:Errors|Warnings)\.(CNW?\d{3})\b", read("spacy_connorm")))
    assert used == set(codes)


def test_every_code_is_expected_by_a_test(codes):
    assert set(codes) - set(re.findall(r"\bCNW?\d{3}\b", read("tests"))) == set()


def test_a_message_begins_with_its_code():
    assert str(Errors.CN409()).startswith("[CN409] Nothing to index")
    with pytest.raises(ConnormError, match=r"^\[CN006\] `size` must be at least 1, not 0\.$"):
        require_range(least=1, number=2, size=0)
    require_range(least=1, size=1, count=None)
    for share in (-0.1, 1, float("nan"), "1"):
        with pytest.raises(
            ConnormError, match="CN006.*`share` must be at least 0 and below 1, not"
        ):
            require_range(least=0, below=1, share=share)


def test_errors_and_warnings_tell_their_codes():
    inner = Errors.CN006.format(setting="types", expected="a list", value="7")
    error = Errors.CN115(path="a\nb", line=1, format="JSON", reason=inner)
    assert error.code == "CN115"
    assert ConnormWarning(Warnings.CNW201.format(count=1)).code == "CNW201"
    assert ConnormError("[CN1] other").code == ""


def test_a_reason_is_one_line_without_a_full_stop():
    assert tell_reason(ValueError("no\n  such file.")) == "no such file"
    assert tell_reason(ValueError()) == "ValueError"


def test_an_error_stands_in_place_of_other_libraries_errors():
    listening = {"host": "a", "port": 1}
    refused = pytest.raises(ConnormError, match=r"CN751.*\(in use\)")
    with refused as raised, Errors.CN751.instead_of(OSError, **listening):
        raise OSError(98, "in use")
    assert isinstance(raised.value.__cause__, OSError)
    for error in (Errors.CN409(), KeyError("a")):
        passed = pytest.raises(type(error))
        with passed as raised, Errors.CN751.instead_of(OSError, ValueError, **listening):
            raise error
        assert raised.value is error


def calls(path: Path) -> Iterator[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.mark.parametrize("path", sorted((ROOT / "spacy_connorm").rglob("*.py")), ids=str)
def test_messages_get_their_facts(path):
    for call in calls(path):
        name = re.fullmatch(r"(Errors|Warnings)\.(CNW?\d{3})(\.\w+)?", ast.unparse(call.func))
        given = {fact.arg for fact in call.keywords}
        if name is None or None in given:
            continue
        kinds = Errors if name[1] == "Errors" else Warnings
        fields = [field for _, field, _, _ in Formatter().parse(kinds[name[2]].value) if field]
        needed = {re.split(r"\W", field)[0] for field in fields}
        if name[3] == ".instead_of":
            needed -= {"reason"}
            given -= {"reason", "tell"}
        assert given == needed, f"line {call.lineno}"
