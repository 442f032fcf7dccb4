"""What needs no token: the page's own files, the health check and the API's description."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "page"
HEALTH = "/health"
DESCRIPTION = "/openapi.json"
FILES = {
    "/": "index.html",
    "/api-reference": "reference.html",
    **{f"/static/{path.name}": path.name for path in PAGE.iterdir() if path.suffix != ".html"},
}
_OPEN = frozenset({*FILES, HEALTH, DESCRIPTION})


def is_open(scope: Mapping[str, Any]) -> bool:
    """Tell whether a request needs no token and costs nothing.

    scope (Mapping[str, Any]): As ASGI says, of a request by HTTP.
    RETURNS (bool): Whether it is one for a file of the page, the health or the description.
    """
    return _route(scope) in _OPEN


def _route(scope: Mapping[str, Any]) -> str:
    """RETURNS (str): The path below the root path, as Starlette finds it: under a mount or a proxy,
    `path` begins with that.
    """
    path, root = scope["path"], scope.get("root_path", "")
    below = path.removeprefix(root)
    return below if below.startswith("/") or not below else path
