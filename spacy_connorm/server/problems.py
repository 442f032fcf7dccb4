"""Errors as JSON: a status, a code and one sentence."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from ..errors import ConnormError, split_code

_STATUS = {
    **dict.fromkeys(("CN411", "CN753", "CN766", "CN786"), 404),
    **dict.fromkeys(("CN754", "CN787"), 409),
    **dict.fromkeys(("CN709", "CN749", "CN756"), 413),
    # Files of the server are damaged or missing; no request names a file.
    **dict.fromkeys(("CN100", "CN106", "CN107", "CN115", "CN402"), 500),
    **dict.fromkeys(("CN108", "CN765"), 500),
    "CN109": 503,
}
_INVALID = 422


class Problem(NamedTuple):
    """Why a request has no answer.

    status (int): The status of HTTP.
    message (str): One of `Errors`, formatted.
    """

    status: int
    message: str

    @property
    def content(self) -> dict[str, Any]:
        """The problem as JSON.

        RETURNS (Dict[str, Any]): {"error": {"code": ..., "message": ...}}.
        """
        code, message = split_code(self.message)
        return {"error": {"code": code, "message": message}}


def problem_of(error: ConnormError) -> Problem:
    """Make the answer to an error of the package.

    RETURNS (Problem): An error of the package, with the status that its code has.
    """
    return Problem(_STATUS.get(error.code, _INVALID), str(error))


async def send_problem(
    send: Any, problem: Problem, *, headers: Mapping[str, str] | None = None
) -> None:
    """Answer a request with a problem, below any framework.

    send (Callable): As ASGI says.
    problem (Problem): The problem.
    headers (Optional[Mapping[str, str]]): More headers.
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
    """Why a request has no answer."""

    error: ProblemText


_MEANING = {
    400: "The body can't be read.",
    401: "The token is missing or wrong.",
    403: "The request comes from another site.",
    404: "It does not exist.",
    408: "The body took too long.",
    409: "It has already been undone, or somebody has changed it in the meantime.",
    413: "Too much at once.",
    421: "The server does not go by this name.",
    422: "Something is invalid.",
    429: "Too many requests from one client at once.",
    500: "The server failed, or one of its files is damaged.",
    503: "Too many requests at once, or a file is being written.",
}
# What the guards say of any request, and of those that need a token.
_OF_ALL = (403, 421, 500)
_OF_API = (400, 401, 408, 413, 422, 429, 503)

Declared = dict[int | str, dict[str, Any]]


def declare(*statuses: int) -> Declared:
    """Declare the problems of an address that needs no token.

    *statuses (int): Those besides what all addresses answer.
    RETURNS (Dict[Union[int, str], Dict[str, Any]]): FastAPI's `responses`.
    """
    return {
        status: {"model": ProblemBody, "description": _MEANING[status]}
        for status in sorted({*_OF_ALL, *statuses})
    }


def declare_api(*statuses: int) -> Declared:
    """Declare the problems of an address of the API; see `declare`."""
    return declare(*_OF_API, *statuses)
