import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from correcting import NOTE

import spacy_connorm.server.serving as serving_module
from spacy_connorm.errors import ConnormError
from spacy_connorm.server import make_app, serve
from spacy_connorm.server.serving import choose_token, listen
from spacy_connorm.workflows import CorrectionsFile

SLOW = """
import sys, time
import spacy
from spacy.language import Language
from spacy_connorm import serve

nlp = spacy.load(sys.argv[1])

@Language.component("slow")
def slow(doc):
    print("RUNS", flush=True)
    time.sleep(1)
    return doc

nlp.add_pipe("slow")
serve(nlp, corrections=sys.argv[2], port=0, on_start=lambda at: print(at, flush=True))
print("STOPPED", flush=True)
"""


@pytest.fixture
def folder(pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.fixture
def start(without_torch):
    """A function that starts a process, and reads the address it tells."""
    started = []

    def run(*arguments):
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**without_torch, "ANSI_COLORS_DISABLED": "1"},
        )
        started.append(process)
        for line in process.stdout:
            if "http://" in line:
                return process, line.split()[-1]
        raise AssertionError(f"ended with {process.wait()}")

    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(address, path, body):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer), answer.headers


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_a_signal_lets_what_runs_finish(start, folder, path, number):
    process, address = start("-c", SLOW, folder, path)
    answers = []
    body = {"texts": [NOTE]}
    thread = threading.Thread(target=lambda: answers.append(ask(address, "api/annotate", body)))
    thread.start()
    assert process.stdout.readline() == "RUNS\n"
    process.send_signal(number)
    thread.join()
    ((answer, headers),) = answers
    assert len(answer["records"][0]["ents"]) == 2
    assert "server" not in headers
    assert process.stdout.read() == "STOPPED\n"
    assert process.wait() == 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_server_loses_nothing(start, folder, path):
    process, address = start("-c", SLOW, folder, path)
    body = {"text": NOTE, "start": 35, "end": 39, "kb_id": "C4", "author": "Ann"}
    acknowledged = []
    with pytest.raises(OSError):
        while True:
            answer, _ = ask(address, "api/corrections", body)
            acknowledged.append(answer["id"])
            if len(acknowledged) == 2:
                process.kill()
    assert [record.id for record in CorrectionsFile(path).read()][:2] == acknowledged


def test_the_command_serves(start, folder, path):
    command = ("-m", "spacy", "connorm", "serve", folder, "--port", "0", "--corrections", path)
    process, address = start(*command, "--verbose")
    with urllib.request.urlopen(address + "health", timeout=30) as answer:
        assert json.load(answer)["status"] == "ok"
    if os.name != "nt":
        process.terminate()
        output = process.stdout.read()
        assert process.wait() == 0
        assert "GET /health 200" in output and "Stopped" in output


def test_answers_do_not_wait_for_acknowledgements():
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()[:2]),
    ):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken(folder, path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConnormError, match="CN751"):
            serve("no_such_pipeline", corrections=path, port=port)
    with pytest.raises(ConnormError, match="CN751"):
        serve("no_such_pipeline", corrections=path, host="no.such.host.invalid", port=0)
    with pytest.raises(ConnormError, match="CN700"):
        serve("no_such_pipeline", corrections=path, port=0)


def test_a_token_is_made_where_others_can_reach_the_host(monkeypatch):
    monkeypatch.delenv("SPACY_CONNORM_TOKEN", raising=False)
    assert choose_token("127.0.0.1", None) == ""
    assert choose_token("127.0.0.1", "own") == "own"
    made = choose_token("0.0.0.0", None)
    assert len(made) >= 32 and made != choose_token("0.0.0.0", "")
    monkeypatch.setenv("SPACY_CONNORM_TOKEN", "known")
    assert choose_token("0.0.0.0", None) == choose_token("127.0.0.1", None) == "known"


def test_the_address_has_the_token(folder, path, monkeypatch):
    told = []
    monkeypatch.setattr(serving_module, "_run", lambda app, listening, limits, on_start: on_start())
    serve(folder, corrections=path, host="0.0.0.0", port=0, token="t", on_start=told.append)
    assert serve(folder, corrections=path, port=0).records == 0
    serve(folder, corrections=path, port=0, name="terms.example.org", on_start=told.append)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=\S{32,}", told.pop())
    serve(folder, corrections=path, host="0.0.0.0", port=0, name="localhost", on_start=told.append)
    # What it prints is what it answers to.
    assert re.fullmatch(r"http://localhost:\d+/#token=\S{32,}", told.pop())
    (address,) = told
    assert address.startswith("http://0.0.0.0:") and address.endswith("/#token=t")


def test_without_the_extra(pipeline, path, monkeypatch):
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    for call in (serve, make_app):
        with pytest.raises(ConnormError, match=r"CN126.*spacy-connorm\[serve\]"):
            call(pipeline, corrections=path)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_crowd_that_asks_nothing_does_not_take_all_files(start, folder, path):
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))"
    process, address = start("-c", f"{few}\n{SLOW}", folder, path)
    place = urlsplit(address)
    with ExitStack() as stack:
        for _ in range(300):
            # Faster than they are accepted, the system drops some and tries again after a second.
            time.sleep(0.01)
            client = socket.create_connection((place.hostname, place.port), timeout=30)
            stack.enter_context(client).sendall(b"GET / HT")
        with urllib.request.urlopen(f"{address}health", timeout=30) as answer:
            assert answer.status == 200
        process.terminate()
        # Nothing is told of files that cannot be opened.
        assert process.stdout.read() == "STOPPED\n"
