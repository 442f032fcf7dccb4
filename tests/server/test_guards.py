import asyncio
import logging
from urllib.parse import urlsplit

import httpx
import pytest
from correcting import NOTE
from starlette.applications import Starlette
from starlette.routing import Mount

from spacy_connorm.server import RequestLimits, make_app
from spacy_connorm.server.guards import GuardRequests, is_loopback, known_hosts

from .conftest import running
from .test_routes import refused


def test_addresses_of_this_machine_are_known():
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        assert is_loopback(host)
    for host in ("0.0.0.0", "10.0.0.1", "", "example.org", "::"):
        assert not is_loopback(host)


def test_names_of_the_server():
    assert known_hosts("127.0.0.1") == {"127.0.0.1", "localhost", "::1"}
    assert {"example.org", "localhost"} <= known_hosts("Example.org")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:{port}", 200),
        ("[::1]:{port}", 200),
        ("127.0.0.1.evil.example:{port}", 421),
        ("10.0.0.1", 421),
        ("evil.example@127.0.0.1.", 421),
        ("", 421),
        ("[", 421),
    ],
)
def test_other_names_are_refused(client, host, status):
    port = urlsplit(str(client.base_url)).port
    response = client.get("/health", headers={"Host": host.format(port=port)})
    assert response.status_code == status
    if status != 200:
        refused(response, 421, "CN761")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://[",
    ],
)
def test_other_pages_are_refused(client, origin):
    body = {"texts": [NOTE]}
    refused(client.post("/api/annotate", json=body, headers={"Origin": origin}), 403, "CN762")
    assert "access-control-allow-origin" not in client.post("/api/annotate", json=body).headers


def test_its_own_page_may_ask(client):
    own = {"Origin": str(client.base_url).rstrip("/")}
    assert client.post("/api/annotate", json={"texts": []}, headers=own).status_code == 200


def test_a_token_is_needed_where_there_is_one(serving):
    client = serving(token="secret", host="0.0.0.0")
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer é".encode()}):
        refused(client.get("/api/info", headers=headers), 401, "CN763")
    known = {"Authorization": "Bearer secret"}
    assert client.get("/api/info", headers=known).status_code == 200
    for other in ("10.1.2.3", "8.8.8.8", "evil.example"):
        refused(client.get("/api/info", headers={**known, "Host": other}), 421, "CN761")
    named = serving(token="secret", host="terms.example.org")
    behind = {"Host": "terms.example.org", "Origin": "https://terms.example.org", **known}
    assert named.post("/api/annotate", json={"texts": []}, headers=behind).status_code == 200
    # The page asks for it.
    for open_path in ("/", "/api-reference", "/static/app.js", "/health", "/openapi.json"):
        assert client.get(open_path).status_code == 200
    for other_path in ("/api", "/nothing", "/static/..%2fapi.py", "//api/info", "/health/"):
        refused(client.get(other_path), 401, "CN763")


@pytest.mark.parametrize(
    "path",
    ["/%61pi/info", "/api%2finfo", "/api/%63oncepts/C1", "/%68ealth", "/%", "/x%2f/api/info"],
)
def test_escaped_paths_are_not_other_names(client, path):
    refused(client.get(path), 404, "CN766")


def test_ids_of_concepts_may_be_escaped(client):
    for path in ("/api/concepts/C%32", "/api/concepts/OMIM%3A2", "/api/concepts/OMIM:2"):
        assert client.get(path).json()["concept_id"] == "C2"


def test_the_host_is_checked_against_the_address_at_which_a_request_arrives():
    """Behind 0.0.0.0, clients say the address of the machine."""

    async def answer(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def status(host, **scope):
        sent = []

        async def send(message):
            sent.append(message)

        asked = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", host)]}
        await guard({**asked, **scope}, None, send)
        return sent[0]["status"]

    guard = GuardRequests(answer, hosts=known_hosts("0.0.0.0"), token="")
    arrived = {"server": ("10.0.0.7", 8000)}
    assert asyncio.run(status(b"10.0.0.7:8000", **arrived)) == 200
    assert asyncio.run(status(b"8.8.8.8", **arrived)) == 421
    assert asyncio.run(status(b"10.0.0.7", server=None)) == 421


@pytest.fixture(params=["mounted", "behind a proxy"])
def below_a_root(request, make_pipeline, path):
    """A client of an application below /connorm, which needs a token."""
    limits = RequestLimits(body=50)
    app = make_app(make_pipeline(), corrections=path, token="secret", limits=limits)
    is_mounted = request.param == "mounted"
    if is_mounted:
        app = Starlette(routes=[Mount("/connorm", app)])
    # uvicorn puts its root path before the path that a client asks for.
    with running(app, root_path="" if is_mounted else "/connorm") as address:
        address += "/connorm" if is_mounted else ""
        with httpx.Client(base_url=address, trust_env=False, timeout=30) as client:
            yield client


def test_token_and_limits_hold_below_a_root_path(below_a_root):
    refused(below_a_root.get("/api/info"), 401, "CN763")
    known = {"Authorization": "Bearer secret"}
    assert below_a_root.get("/api/info", headers=known).status_code == 200
    body = {"texts": ["x" * 50]}
    refused(below_a_root.post("/api/annotate", json=body, headers=known), 413, "CN756")
    for open_path in ("/", "/static/app.js", "/health", "/openapi.json"):
        assert below_a_root.get(open_path).status_code == 200


def _parts_of_a_body():
    for _ in range(200):
        yield b"x" * 50_000


@pytest.mark.parametrize("body", [b"x" * 10_000_000, _parts_of_a_body], ids=["length", "chunks"])
@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": "Bearer secret"}, 413, "CN756"),
        ({}, 401, "CN763"),
    ],
)
def test_a_client_that_is_still_sending_gets_its_refusal(serving, body, headers, status, code):
    client = serving(token="secret", limits=RequestLimits(body=50))
    content = body if isinstance(body, bytes) else body()
    refused(client.post("/api/annotate", content=content, headers=headers), status, code)


def test_browsers_are_told_to_load_nothing_else(client):
    for path in ("/", "/static/app.js", "/api/info", "/api/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_logs_hold_no_text(serving, caplog, make_pipeline, monkeypatch):
    nlp = make_pipeline()
    client = serving(nlp)
    with caplog.at_level(logging.DEBUG):
        client.post("/api/annotate", json={"texts": [NOTE]})
        client.get("/api/concepts/head%20spinning")
        client.get("/head-spinning?head=spinning")
        client.post("/api/search", json={"mentions": NOTE})

        def fail(docs, **options):
            raise RuntimeError(f"can't read {NOTE}")

        monkeypatch.setattr(nlp, "pipe", fail)
        refused(client.post("/api/annotate", json={"texts": [NOTE]}), 500, "CN765")
    ours = [
        record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))
    ]
    told = "\n".join(record.getMessage() + str(record.exc_info or "") for record in ours)
    assert "POST /api/annotate 200" in told and "RuntimeError in fail" in told
    assert "spinning" not in told
