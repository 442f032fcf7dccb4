import socket
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from spacy_connorm.server.connections import bounded_protocol, most_connections

from .conftest import running

APP = Starlette(routes=[Route("/health", lambda request: PlainTextResponse("ok"))])


def opened(address, stack, content=b""):
    url = urlsplit(address)
    client = stack.enter_context(socket.create_connection((url.hostname, url.port), timeout=30))
    client.sendall(content)
    return client


def is_closed(client):
    """Check whether the server has closed a connection; waits for it."""
    content = b""
    with suppress(ConnectionResetError):
        while part := client.recv(1_000):
            content += part
    return not content or content.startswith(b"HTTP/1.1 ")


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /hea",
        b"GET /health HTTP/1.1\r\nHost: x\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /health HT",
    ],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(begun):
    http = bounded_protocol(seconds=0.2, most=100)
    with running(APP, http=http) as address, ExitStack() as stack:
        assert is_closed(opened(address, stack, begun))
        assert httpx.get(f"{address}/health", trust_env=False).text == "ok"


def test_many_that_wait_do_not_keep_others_out():
    http = bounded_protocol(seconds=60, most=10)
    with running(APP, http=http) as address, ExitStack() as stack:
        idle = [opened(address, stack, b"GET /hea") for _ in range(40)]
        for _ in range(3):
            assert httpx.get(f"{address}/health", trust_env=False).text == "ok"
        # Those that have waited longest were closed.
        assert all(map(is_closed, idle[:30]))
        idle[-1].sendall(b"lth HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert idle[-1].recv(1_000).startswith(b"HTTP/1.1 200")


def test_a_slow_answer_is_waited_for():
    def answer(request):
        time.sleep(0.5)
        return PlainTextResponse("late")

    app = Starlette(routes=[Route("/slow", answer)])
    with running(app, http=bounded_protocol(seconds=0.1, most=10)) as address:
        assert httpx.get(f"{address}/slow", trust_env=False).text == "late"


def test_connections_leave_files_for_the_rest():
    assert 0 < most_connections() <= 10_000
