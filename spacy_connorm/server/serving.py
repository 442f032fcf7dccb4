"""Serve a pipeline: `connorm serve`."""

import ipaddress
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy.language import Language

from ..errors import Errors, require_installed
from ..workflows.corrected_pipeline import CorrectedPipeline
from ..workflows.corrections import CorrectionReport, CorrectionsFile
from .guards import GuardRequests, is_loopback, known_hosts
from .limits import LimitRequests, RequestLimits
from .review import MappingReview

TOKEN_VARIABLE = "SPACY_CONNORM_TOKEN"
_SECONDS_TO_FINISH = 30
_WAITING = 128
# New connections are taken in groups of this part of the most that there may be.
_AT_ONCE = 12


def serve(
    pipeline: str | Path | Language,
    *,
    corrections: str | Path = "corrections.jsonl",
    review: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    name: str | None = None,
    token: str | None = None,
    component: str | None = None,
    limits: RequestLimits = RequestLimits(),
    on_start: Callable[[str], None] | None = None,
) -> CorrectionReport:
    """Serve a web page and an API for a pipeline until the process is told to stop: `connorm
    serve`. Running requests are then finished.

    pipeline (Union[str, Path, Language]): An installed package, or a pipeline's folder.
        Or a pipeline.
    corrections (Union[str, Path]): The file that corrections are appended to, and read from.
    review (Optional[Union[str, Path]]): A file of mappings to review, written by `connorm map`.
    host (str): The address to listen at. Any non-loopback address needs a token.
    port (int): The port; 0 for any free one.
    name (Optional[str]): Public host name, when behind a proxy. It needs a token, too.
    token (Optional[str]): Access token that clients must send. If None, the one in the environment
        variable SPACY_CONNORM_TOKEN, or else a new one if the host or the name needs one.
    component (Optional[str]): The concept normalizer to use, if there are several.
    limits (RequestLimits): The limits of requests.
    on_start (Optional[Callable[[str], None]]): Called with the page's address when it is ready.
    RETURNS (CorrectionReport): The final content of the file of corrections.
    RAISES (ConnormError): CN126 if the extra [serve] is missing, CN751 if it can't listen at this
        address, and the errors of `CorrectedPipeline` and `MappingReview`.
    """
    _require_installed()
    with listen(host, port) as listening:
        called = name or host
        # Anyone who can reach the address can claim to use this name.
        token = choose_token(called if is_loopback(host) else host, token)
        app = make_app(
            pipeline,
            corrections=corrections,
            review=review,
            host=called,
            token=token,
            component=component,
            limits=limits,
        )
        # The part of a URL after # never leaves the browser.
        address = _address(listening, name) + (f"/#token={token}" if token else "/")
        _run(app, listening, limits, lambda: on_start(address) if on_start else None)
    return CorrectionReport.of(CorrectionsFile(corrections).read())


def make_app(
    pipeline: str | Path | Language,
    *,
    corrections: str | Path = "corrections.jsonl",
    review: str | Path | None = None,
    host: str = "127.0.0.1",
    token: str = "",
    component: str | None = None,
    limits: RequestLimits = RequestLimits(),
) -> Any:
    """Create the application that `serve` runs, for use with another ASGI server.

    pipeline, corrections, review, component, limits: As for `serve`.
    host (str): The address or name that clients use.
    token (str): Access token that clients must send; empty for none.
    RETURNS (Callable): The ASGI application.
    RAISES (ConnormError): CN126 if the extra [serve] is missing, and the errors of
        `CorrectedPipeline` and `MappingReview`.
    """
    _require_installed()
    from .routes import build_api

    corrected = CorrectedPipeline(pipeline, corrections, component=component)
    reviewed = None if review is None else MappingReview(corrected, review)
    api = build_api(corrected, limits, review=reviewed)
    limited = LimitRequests(api, limits)
    return GuardRequests(limited, hosts=known_hosts(host), token=token)


def choose_token(host: str, token: str | None) -> str:
    """Choose the token that requests must send.

    RETURNS (str): The given token, the one in the environment, or a new one if others can reach the
        host; otherwise an empty one.
    """
    given = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    return given if given or is_loopback(host) else secrets.token_urlsafe(24)


def _require_installed() -> None:
    require_installed("The server", "serve", "fastapi", "uvicorn")


@contextmanager
def listen(host: str, port: int) -> Iterator[socket.socket]:
    """Bind the address before the pipeline is loaded, since that takes long.

    host (str): The address.
    port (int): The port; 0 for any that is free.
    YIELDS (socket.socket): A listening socket.
    RAISES (ConnormError): CN751 if the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with Errors.CN751.instead_of(OSError, OverflowError, host=host, port=port):
        listening = socket.create_server((host, port), family=family, backlog=_WAITING)
    with listening:
        # asyncio does this only for its own sockets. Otherwise, each answer waits 40 ms for the
        # client to acknowledge its headers.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listening


def _address(listening: socket.socket, name: str | None) -> str:
    host, port = listening.getsockname()[:2]
    if name and ipaddress.ip_address(host).is_unspecified:
        # Nobody calls it so, and it answers to its name alone.
        host = name
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _run(
    app: Any, listening: socket.socket, limits: RequestLimits, on_start: Callable[[], None]
) -> None:
    import uvicorn

    from .connections import bounded_protocol, most_connections

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # uvicorn's own method raises them again after it has stopped.
            numbers = (signal.SIGINT, signal.SIGTERM)
            before = {number: signal.signal(number, self.handle_exit) for number in numbers}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    most = most_connections()
    config = uvicorn.Config(
        app,
        http=bounded_protocol(limits.seconds, most),
        # So many are accepted before the first of them is counted.
        backlog=max(1, most // _AT_ONCE),
        access_log=False,  # it would contain the paths that clients request
        log_config=None,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
    )
    Server(config).run(sockets=[listening])
