"""Who may send requests, and what is logged of them."""

import hmac
import ipaddress
import logging
import socket
import time
import traceback
from collections.abc import Collection
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..errors import ConnormError, Errors
from ..files.package_data import read_toml
from .paths import is_open, route_of
from .problems import drop_body, send_problem, sends_body

LOGGER = logging.getLogger("spacy_connorm.server")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEADERS = read_toml(__package__, "answers.toml")["headers"]
_ADDED = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]


def is_loopback(host: str) -> bool:
    """Check whether only this machine can reach an address.

    RETURNS (bool): True for loopback addresses and "localhost".
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def known_hosts(host: str) -> frozenset[str]:
    """List the host names that a server answers to. A foreign page whose name was made to point
    here uses a different one.

    host (str): The address that it listens at.
    RETURNS (FrozenSet[str]): Names and addresses.
    """
    if is_loopback(host):
        return frozenset({*_LOOPBACK, host})
    names = {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset({*_LOOPBACK, *names, host.lower()} - {""})


class GuardRequests:
    """Refuses requests from elsewhere, adds headers for browsers, and logs methods, routes,
    statuses and times, never a text.
    """

    def __init__(self, app: Any, *, hosts: Collection[str], token: str) -> None:
        """Wrap an ASGI application.

        app (Callable): The application.
        hosts (Collection[str]): The host names that it answers to, in addition to the address at
            which a request arrives.
        token (str): The token that all requests except those of `is_open` must send; empty for
            none.
        """
        self._app = app
        self._hosts = frozenset(hosts)
        self._token = token.encode()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request, or refuse it.

        scope (Dict[str, Any]): The connection, as in ASGI.
        receive (Callable): As in ASGI.
        send (Callable): As in ASGI.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def send_guarded(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *_ADDED]}
            await send(message)

        try:
            problem = self._refusal(scope)
            if problem is None:
                await self._app(scope, receive, send_guarded)
            else:
                await drop_body(receive, more=sends_body(scope))
                await send_problem(scope, send_guarded, problem)
        except Exception as error:
            LOGGER.error("%s in %s", type(error).__name__, _place(error))
            if not status:
                await send_problem(scope, send_guarded, Errors.CN765())
        finally:
            route = getattr(scope.get("route"), "path", "-")
            spent = 1000 * (time.perf_counter() - started)
            LOGGER.info("%s %s %d %.0f ms", scope["method"], route, status, spent)

    def _refusal(self, scope: dict[str, Any]) -> ConnormError | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        address, _ = scope.get("server") or ("", None)
        if (_parsed(f"//{host}").hostname or "").lower() not in self._hosts | {address}:
            return Errors.CN761()
        origin = headers.get(b"origin")
        if origin is not None and _parsed(origin).netloc.lower() != host.lower():
            return Errors.CN762()
        if self._token and not is_open(scope):
            given = headers.get(b"authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode("latin-1", "replace"), self._token):
                return Errors.CN763()
        return Errors.CN766() if route_of(scope) is None else None


def _parsed(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames[:-4:-1])
