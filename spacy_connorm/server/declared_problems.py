"""Errors as the API's description declares them. Import it inside functions: pydantic is heavy."""

from typing import Any

from pydantic import BaseModel


class ProblemText(BaseModel):
    """A code of the package, such as "CN757", and one sentence."""

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
