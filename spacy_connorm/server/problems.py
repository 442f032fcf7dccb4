"""A refusal of the server: a status, a code and one sentence."""

import asyncio
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


def make_refusal(error: ConnormError, *, status: int | None = None) -> Any:
    """Make the answer that refuses a request.

    error (ConnormError): The refusal.
    status (Optional[int]): The HTTP status; that of the refusal's code if None.
    RETURNS (JSONResponse): `{"error": {"code": ..., "message": ...}}`.
    """
    from starlette.responses import JSONResponse

    code, message = split_code(str(error))
    content = {"error": {"code": code, "message": message}}
    return JSONResponse(content, status or _STATUS.get(error.code, _INVALID))


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
    scope: Any, send: Any, error: ConnormError, *, headers: Mapping[str, str] | None = None
) -> None:
    """Answer a request with a problem, outside the framework.

    scope (Dict[str, Any]): The connection, as in ASGI.
    send (Callable): As in ASGI.
    error (ConnormError): The refusal.
    headers (Optional[Mapping[str, str]]): Additional headers.
    """
    refusal = make_refusal(error)
    # There may be more of the body than was read.
    refusal.headers.update({"Connection": "close", **(headers or {})})
    await refusal(scope, None, send)


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
