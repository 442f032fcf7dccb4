"""The README and the pages of docs/, and what stands in them."""

import re
import shlex
from collections.abc import Collection, Iterator
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text(page: Path) -> str:
    return page.read_text(encoding="utf8")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), flags=re.DOTALL | re.MULTILINE)


def commands(page: Path) -> Iterator[list[str]]:
    """YIELDS (List[str]): The words of each command in bash blocks."""
    for block in blocks(page, "bash"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words:
                yield words


def connorm_command(words: list[str], known: Collection[str]) -> tuple[str, list[str]]:
    """The name of a connorm command, which may have two words, and its arguments."""
    _, *rest = words[words.index("connorm") :]
    length = 2 if " ".join(rest[:2]) in known else 1
    return " ".join(rest[:length]), rest[length:]


def extras() -> set[str]:
    setup = ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    return set(setup["options.extras_require"])


def with_parents(block: str) -> str:
    """A part of a config as a whole one: the sections around its own are added."""
    found = re.findall(r"^\[([\w.]+)\]$", block, flags=re.MULTILINE)
    parents = (
        ".".join(each.split(".")[:depth])
        for each in found
        for depth in range(1, each.count(".") + 1)
    )
    added = [f"[{each}]\n" for each in dict.fromkeys(parents) if each not in found]
    return "".join(added) + block


def table(page: Path, heading: str) -> list[list[str]]:
    """The rows of a table, cell by cell, found by the beginning of its first line."""
    rows = text(page).split(f"| {heading}", 1)[1].split("\n\n")[0].splitlines()[2:]
    cells = [re.split(r"(?<!\\)\|", row.strip().strip("|")) for row in rows]
    return [[cell.strip() for cell in row] for row in cells]


def codes(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]*)`", cell)


def anchors(page: Path) -> set[str]:
    without_code = re.sub(r"^```.*?^```", "", text(page), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", without_code, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
