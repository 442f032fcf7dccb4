"""Checks before the API: who may send requests, and how large they may be. A refusal is a status, a
code and one sentence.
"""

import asyncio
import hmac
import ipaddress
import json
import logging
import re
import socket
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel
from spacy.tokenizer import Tokenizer

from ..errors import ConnormError, Errors, require_positive, split_code

_STATUS = {
    **dict.fromkeys(("CN411", "CN753", "CN766", "CN786"), 404),
    **dict.fromkeys(("CN754", "CN787"), 409),
    **dict.fromkeys(("CN709", "CN749", "CN756"), 413),
    # The server's own files are damaged or missing; requests do not name files.
    **dict.fromkeys(("CN100", "CN106", "CN107", "CN115", "CN402"), 500),
    **dict.fromkeys(("CN108", "CN765"), 500),
    "CN109": 503,
}
_INVALID = 422


class Problem(NamedTuple):
    """Why a request is refused.

    status (int): The HTTP status.
    message (str): One of `Errors`, formatted.
    """

    status: int
    message: str

    @property
    def content(self) -> dict[str, Any]:
        """The problem as JSON.

        RETURNS (Dict[str, Any]): `{"error": {"code": ..., "message": ...}}`.
        """
        code, message = split_code(self.message)
        return {"error": {"code": code, "message": message}}


def problem_of(error: ConnormError) -> Problem:
    """Choose the HTTP status for an error of the package.

    RETURNS (Problem): The status and the error's message.
    """
    return Problem(_STATUS.get(error.code, _INVALID), str(error))


async def send_problem(
    send: Any, problem: Problem, *, headers: Mapping[str, str] | None = None
) -> None:
    """Answer a request with a problem, without a framework.

    send (Callable): The function given by ASGI.
    problem (Problem): The problem.
    headers (Optional[Mapping[str, str]]): Additional headers.
    """
    body = json.dumps(problem.content, ensure_ascii=False).encode("utf8")
    own = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    # The body of a refused request may not have been read.
    all_headers = {**own, "Connection": "close", **(headers or {})}
    encoded = [(name.lower().encode(), value.encode()) for name, value in all_headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


class ProblemText(BaseModel):
    """A code of the package, such as "CN709", and one sentence."""

    code: str
    message: str


class ProblemBody(BaseModel):
    """Why a request is refused."""

    error: ProblemText


# FastAPI's `responses`: what any address may return instead.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {"model": ProblemBody, "description": "Why the request is refused."}
}


_WORD = re.compile(r"\S+")
# The tokenizer takes as long for this many affixes as for a word or two.
_FREE = 10
# The number of characters that are searched for a prefix or a suffix.
_REACH = 100


def affix_work(text: str, tokenizer: Any, *, limit: int) -> int:
    """Estimate how long a tokenizer takes beyond the time that is linear in the length of a text.
    It strips the prefixes and suffixes of a word one by one, and reads the rest of the word each
    time; a word is any text without spaces.

    text (str): The text.
    tokenizer (Tokenizer): spaCy's, with its own prefixes and suffixes. For other tokenizers, the
        result is 0.
    limit (int): The value at which counting may stop.
    RETURNS (int): The sum over all words of the number of their affixes above ten, times their
        length.
    """
    if not isinstance(tokenizer, Tokenizer):
        return 0
    work = 0
    for word, times in Counter(_WORD.findall(text)).items():
        if len(word) > _FREE and work <= limit:
            most = _FREE + 1 + limit // len(word)
            affixes = _count_affixes(word, tokenizer, most)
            work += times * max(0, affixes - _FREE) * len(word)
    return work


def _count_affixes(word: str, tokenizer: Tokenizer, most: int) -> int:
    start, end, count = 0, len(word), 0
    while start < end and count < most:
        prefix = tokenizer.find_prefix(word[start : min(end, start + _REACH)])
        start += prefix
        suffix = tokenizer.find_suffix(word[max(start, end - _REACH) : end])
        end -= suffix
        if not prefix and not suffix:
            break
        count += bool(prefix) + bool(suffix)
    return count


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits of a server.

    body (int): Bytes in a request.
    text (int): Characters in a text.
    batch (int): Texts or mentions in a request.
    affixes (int): Punctuation without spaces in a text, as counted by `affix_work`: a run of 1,005
        characters counts a million, for which spaCy takes 0.2 seconds.
    concurrent (int): Simultaneous requests.
    seconds (float): How long a client may take to send a request.
    """

    body: int = 4_000_000
    text: int = 100_000
    batch: int = 100
    affixes: int = 4_000_000
    concurrent: int = 16
    seconds: float = 20.0

    def __post_init__(self) -> None:
        for name in ("body", "text", "batch", "affixes", "concurrent"):
            require_positive(name, getattr(self, name))

    def require_length(self, length: int) -> None:
        """Refuse a text that is too long.

        RAISES (ConnormError): CN709 for more characters than a text may have.
        """
        if length > self.text:
            message = Errors.CN709.format(place="A text", length=length, limit=self.text)
            raise ConnormError(message)

    def require_batch(self, count: int) -> None:
        """Refuse too many texts.

        RAISES (ConnormError): CN756 for more texts than a request may have.
        """
        if count > self.batch:
            raise ConnormError(Errors.CN756.format(limit=self.batch, what=f"texts, not {count:,}"))

    def require_tokenizable(self, texts: Iterable[str], tokenizer: Any) -> None:
        """Refuse texts that would block a tokenizer.

        texts (Iterable[str]): The texts.
        tokenizer (Tokenizer): See `affix_work`.
        RAISES (ConnormError): CN749 for such a text.
        """
        for text in texts:
            work = affix_work(text, tokenizer, limit=self.affixes)
            if work > self.affixes:
                raise ConnormError(Errors.CN749.format(limit=self.affixes))


class LimitRequests:
    """Reads the whole body of a request before passing it on, and counts running requests. Requests
    for the page and its files are not counted, since they take almost no time.
    """

    def __init__(self, app: Any, limits: RequestLimits) -> None:
        """Wrap an ASGI application.

        app (Callable): The application.
        limits (RequestLimits): The limits.
        """
        self._app = app
        self._limits = limits
        self._running = 0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request, or refuse it.

        scope (Dict[str, Any]): The connection, as in ASGI.
        receive (Callable): As in ASGI.
        send (Callable): As in ASGI.
        """
        if scope["type"] != "http" or is_open(scope):
            await self._app(scope, receive, send)
            return
        if self._running >= self._limits.concurrent:
            await send_problem(send, Problem(503, Errors.CN760), headers={"Retry-After": "1"})
            return
        self._running += 1
        try:
            await self._run(scope, receive, send)
        finally:
            self._running -= 1

    async def _run(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            async with asyncio.timeout(self._limits.seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            await send_problem(send, Problem(408, Errors.CN768))
            return
        if body is None:
            limit = self._limits.body
            await send_problem(send, Problem(413, Errors.CN756.format(limit=limit, what="bytes")))
            return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_body() -> Any:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, receive_body, send)

    async def _read(self, scope: dict[str, Any], receive: Any) -> bytes | None:
        """Read the body of a request.

        RETURNS (Optional[bytes]): The body; None if it is too large.
        """
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if not told.isdigit() or int(told) > self._limits.body:
            return None
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""  # the client has disconnected
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.body:
                return None
            if not message.get("more_body"):
                return b"".join(parts)


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
    return _route(scope) in _OPEN


def _route(scope: Mapping[str, Any]) -> str | None:
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


LOGGER = logging.getLogger("spacy_connorm.server")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Only our own scripts, styles and images, no frames, and no text that becomes HTML.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
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
    own = {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset({*_LOOPBACK, *own, host.lower()} - {""})


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
                await send_problem(send_guarded, problem)
        except Exception as error:
            LOGGER.error("%s in %s", type(error).__name__, _place(error))
            if not status:
                await send_problem(send_guarded, Problem(500, Errors.CN765))
        finally:
            route = getattr(scope.get("route"), "path", "-")
            spent = 1000 * (time.perf_counter() - started)
            LOGGER.info("%s %s %d %.0f ms", scope["method"], route, status, spent)

    def _refusal(self, scope: dict[str, Any]) -> Problem | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        address, _ = scope.get("server") or ("", None)
        if _hostname(host) not in self._hosts | {address}:
            return Problem(421, Errors.CN761)
        origin = headers.get(b"origin")
        if origin is not None and _netloc(origin) != host.lower():
            return Problem(403, Errors.CN762)
        if self._token and not is_open(scope):
            given = headers.get(b"authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode("latin-1", "replace"), self._token):
                return Problem(401, Errors.CN763)
        return Problem(404, Errors.CN766) if _route(scope) is None else None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames[:-4:-1])
