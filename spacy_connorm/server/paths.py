"""The addresses of the page, its files and the API, before anything is decided by them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "page"
HEALTH = "/health"
DESCRIPTION = "/openapi.json"
CONCEPTS = "/api/concepts/"
FILES = {
    "/": "index.html",
    "/api-reference": "reference.html",
    **{f"/static/{path.name}": path.name for path in PAGE.iterdir() if path.suffix != ".html"},
}
_OPEN = frozenset({*FILES, HEALTH, DESCRIPTION})


def is_open(scope: Mapping[str, Any]) -> bool:
    """Check whether a request needs no token and takes almost no time.

    scope (Mapping[str, Any]): The HTTP connection, as in ASGI.
    RETURNS (bool): True for the page's files, the health check and the description of the API.
    """
    return route_of(scope) in _OPEN


def route_of(scope: Mapping[str, Any]) -> str | None:
    """Find the route of a request, before anything is decided by it.

    scope (Mapping[str, Any]): The HTTP connection, as in ASGI.
    RETURNS (Optional[str]): The path below the root path, as Starlette determines it: under a mount
        or a proxy, `path` begins with the root path. None for a path with escapes anywhere except
        in the id of a concept: "/%61pi/info" is not treated as "/api/info", which a proxy may have
        blocked.
    """
    written = scope.get("raw_path", b"").partition(CONCEPTS.encode())[0]
    if b"%" in written:
        return None
    path, root = scope["path"], scope.get("root_path", "")
    below = path.removeprefix(root)
    return below if below.startswith("/") or not below else path
