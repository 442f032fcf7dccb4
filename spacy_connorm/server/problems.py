"""A refusal of the server: a status, a code and one sentence."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from ..errors import ConnormError, split_code
from ..files.package_data import read_toml

_REFUSALS = read_toml(__package__, "answers.toml")["refusals"]
_STATUS = {code: int(status) for status, codes in _REFUSALS.items() for code in codes}
_INVALID = 422
# How long the body of a refused request is read on, in seconds.
_LINGER = 5.0


def status_of(error: ConnormError) -> int:
    """Choose the HTTP status of a refusal.

    RETURNS (int): The status.
    """
    return _STATUS.get(error.code, _INVALID)


def content_of(error: ConnormError) -> dict[str, Any]:
    """Describe a refusal as JSON.

    RETURNS (Dict[str, Any]): `{"error": {"code": ..., "message": ...}}`.
    """
    code, message = split_code(str(error))
    return {"error": {"code": code, "message": message}}


async def drop_body(receive: Any, *, more: bool) -> None:
    """Receive what is left of the body of a refused request, as long as it arrives within five
    seconds. Most clients see no answer if their connection is closed while they are still sending.

    receive (Callable): As in ASGI.
    more (bool): Whether anything is left.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while more:
                more = (await receive()).get("more_body", False)


def sends_body(scope: Mapping[str, Any]) -> bool:
    """Check whether a client sends a body without being asked to.

    scope (Mapping[str, Any]): The connection, as in ASGI.
    RETURNS (bool): False for "Expect: 100-continue", which waits for an answer first.
    """
    names = {name for name, _ in scope["headers"]}
    return bool(names & {b"content-length", b"transfer-encoding"}) and b"expect" not in names


async def send_problem(
    send: Any, error: ConnormError, *, headers: Mapping[str, str] | None = None
) -> None:
    """Answer a request with a problem, without a framework.

    send (Callable): The function given by ASGI.
    error (ConnormError): The refusal.
    headers (Optional[Mapping[str, str]]): Additional headers.
    """
    body = json.dumps(content_of(error), ensure_ascii=False).encode("utf8")
    usual = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    # There may be more of the body than was read.
    all_headers = {**usual, "Connection": "close", **(headers or {})}
    encoded = [(name.lower().encode(), value.encode()) for name, value in all_headers.items()]
    await send({"type": "http.response.start", "status": status_of(error), "headers": encoded})
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
