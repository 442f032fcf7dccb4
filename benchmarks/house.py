"""How many rooms the package has, on how many floors, and how many arrows run between them.

A room is a module or a package at the package's root. An arrow runs from a room to each room that
one of its files imports, type-checking imports included. A room stands one floor above the highest
room that it imports; rooms that import each other share a floor.

Example: python benchmarks/house.py --package ../elsewhere/spacy_connorm
"""

import ast
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from _common.cli import begin, finish_tables, make_parser

PACKAGE = Path(__file__).parents[1] / "spacy_connorm"


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    arrows = find_arrows(arguments.package)
    row = {
        "rooms": len(arrows),
        "floors": max(floors(arrows).values()),
        "arrows": sum(map(len, arrows.values())),
        "files": len(list(arguments.package.rglob("*.py"))),
    }
    finish_tables({"House": [row]}, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is counted."""
    parser.add_argument("--package", type=Path, default=PACKAGE, help="its folder [%(default)s]")
    return parser


def find_arrows(package: Path) -> dict[str, set[str]]:
    """RETURNS (Dict[str, Set[str]]): The rooms that each room imports.

    package (Path): The package's folder.
    """
    arrows: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        room, *_ = path.relative_to(package).with_suffix("").parts
        arrows.setdefault(room, set()).update(imported_rooms(path, package))
    return {room: (found & arrows.keys()) - {room} for room, found in arrows.items()}


def imported_rooms(path: Path, package: Path) -> Iterator[str]:
    """YIELDS (str): What a file imports, by relative imports, from the package's root."""
    inside = path.relative_to(package).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = inside[: len(inside) - node.level + 1]
            for alias in node.names:
                yield (*base, *(node.module.split(".") if node.module else ()), alias.name)[0]


def floors(arrows: dict[str, set[str]]) -> dict[str, int]:
    """RETURNS (Dict[str, int]): The floor of each room, from 1."""
    above = {room: reachable(room, arrows) for room in arrows}
    circles = {room: {each for each in above[room] if room in above[each]} for room in arrows}
    found: dict[str, int] = {}
    for room in sorted(arrows, key=lambda each: len(above[each])):
        below = set().union(*(arrows[each] for each in circles[room] | {room})) - circles[room]
        found[room] = 1 + max((found[each] for each in below - {room}), default=0)
    return found


def reachable(room: str, arrows: dict[str, set[str]]) -> set[str]:
    """RETURNS (Set[str]): All rooms that a room imports, directly or through others."""
    reached: set[str] = set()
    waiting = set(arrows[room])
    while waiting:
        reached |= waiting
        waiting = set().union(*(arrows[each] for each in waiting)) - reached
    return reached


if __name__ == "__main__":
    main()
