"""`annotate` with several processes ends, and leaves nobody behind, whoever is killed."""

import json
import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress

import pytest
import spacy
from long_run import is_long

from spacy_connorm import annotate
from spacy_connorm.cli import app
from spacy_connorm.documents.records import JsonlExporter
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows.pool import map_batches

from . import gated

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
SECONDS = 5  # within which everything ends


def pytest_generate_tests(metafunc):
    # Spawned processes take seconds to start.
    if "method" in metafunc.fixturenames:
        methods = ["fork", "spawn"] if is_long(metafunc.config) else ["fork"]
        metafunc.parametrize("method", methods, indirect=True)


@pytest.fixture
def method(request):
    default = multiprocessing.get_start_method()
    multiprocessing.set_start_method(request.param, force=True)
    yield request.param
    multiprocessing.set_start_method(default, force=True)


@pytest.fixture
def installed_gate(tmp_path_factory, monkeypatch):
    """The gate as a package that is installed: workers that are spawned load the pipeline from its
    folder, and have imported nothing."""
    packages = tmp_path_factory.mktemp("packages")
    (packages / "gate-1.dist-info").mkdir()
    (packages / "gate-1.dist-info" / "METADATA").write_text("Name: gate\nVersion: 1\n")
    points = f"[spacy_factories]\ngate = {gated.__name__}:make_gate\n"
    (packages / "gate-1.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(packages))


@pytest.fixture
def running(pipeline, tmp_path, method, installed_gate):
    """A function that starts the command on some texts, and gives its process and its workers once
    they wait at the gate."""
    pipeline.add_pipe("gate", first=True, config={"folder": str(tmp_path)})
    pipeline.to_disk(tmp_path / "pipeline")
    (tmp_path / "out.jsonl").write_text("old")
    started = []

    def start(*texts, workers):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        (tmp_path / "notes.jsonl").write_text(lines)
        paths = [str(tmp_path / name) for name in ("pipeline", "notes.jsonl", "out.jsonl")]
        options = ["--n-process", "2", "--batch-size", "1"]
        pid = gated.fork(lambda: app(["annotate", *paths, *options]), tmp_path / "output")
        started.append(pid)
        gated.wait_for(lambda: len(list(tmp_path.glob("reached-*"))) == workers)
        return pid, [int(path.name.partition("-")[2]) for path in tmp_path.glob("reached-*")]

    yield start
    for pid in started:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


@pytest.fixture
def ended(tmp_path, method):
    """A function that checks that all ended in time, and that the old output is there."""

    def check(pid, workers, code, *expected):
        begin = time.monotonic()
        assert gated.exit_code(pid) == code
        for worker in workers:
            gated.wait_for(lambda worker=worker: not gated.is_running(worker))
        assert time.monotonic() - begin < SECONDS
        output = " ".join((tmp_path / "output").read_text().split())
        assert all(each in output for each in expected), output
        assert "Traceback" not in output and "secret" not in output
        assert output.count("[CN") == bool(expected)
        assert (tmp_path / "out.jsonl").read_text() == "old"
        if expected:
            assert not list(tmp_path.glob(".out*"))

    return check


def interrupt_all(pid, workers):
    os.killpg(pid, signal.SIGINT)


def interrupt_parent(pid, workers):
    os.kill(pid, signal.SIGINT)


def interrupt_twice(pid, workers):
    os.killpg(pid, signal.SIGINT)
    os.kill(workers[0], signal.SIGINT)


def terminate_parent(pid, workers):
    os.kill(pid, signal.SIGTERM)


def kill_parent(pid, workers):
    os.kill(pid, signal.SIGKILL)


def kill_worker(pid, workers):
    os.kill(workers[0], signal.SIGKILL)


def terminate_worker(pid, workers):
    os.kill(workers[1], signal.SIGTERM)


@pytest.mark.parametrize(
    ("stop", "code", "expected"),
    [
        (interrupt_all, 130, ["[CN718] Stopped by SIGINT", "as before"]),
        (interrupt_parent, 130, ["[CN718] Stopped by SIGINT", "as before"]),
        (interrupt_twice, 130, ["[CN718] Stopped by SIGINT", "as before"]),
        (terminate_parent, 143, ["[CN718] Stopped by SIGTERM", "as before"]),
        (kill_parent, -9, []),
        (kill_worker, 1, ["[CN716]", "died (SIGKILL) at batch", "as before", "memory"]),
        (terminate_worker, 1, ["[CN716]", "died (SIGTERM) at batch", "as before"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_all_end_when_one_is_stopped(running, ended, tmp_path, stop, code, expected):
    pid, workers = running("wait", "wait", "fine", workers=2)
    stop(pid, workers)
    ended(pid, workers, code, *expected)


@pytest.mark.parametrize(
    ("text", "code", "reason"),
    [
        ("raise", "CN717", "ValueError"),
        ("memory", "CN717", "MemoryError"),
        ("kill", "CN716", "SIGKILL"),
    ],
)
def test_all_end_when_a_text_is_fatal(running, ended, text, code, reason):
    # The other worker never comes to its end by itself.
    pid, workers = running("wait", "fine", text, "fine", workers=1)
    ended(pid, workers, 1, f"[{code}]", f"({reason})", "at batch 3", "as before")


@pytest.mark.filterwarnings("ignore:.*CNW701")
def test_what_a_killed_parent_left_goes_with_the_next_success(running, ended, tmp_path):
    pid, workers = running("wait", "wait", workers=2)
    kill_parent(pid, workers)
    ended(pid, workers, -9)
    assert list(tmp_path.glob(".out.part-*"))
    (tmp_path / "open").touch()
    annotate(tmp_path / "pipeline", tmp_path / "notes.jsonl", tmp_path / "out.jsonl")
    assert not list(tmp_path.glob(".out*"))
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2


def killed_at_half(batch):
    """Begin a long answer, and die."""
    pipe = sys._getframe(1).f_locals["pipe"]
    os.write(pipe.fileno(), (1_000_000).to_bytes(4, "big") + b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)


def test_nobody_waits_for_the_rest_of_an_answer():
    begin = time.monotonic()
    with pytest.raises(ConnormError, match=r"CN716.*SIGKILL.*batch [12]"):
        list(map_batches(killed_at_half, range(4), processes=2))
    assert time.monotonic() - begin < SECONDS
    assert not multiprocessing.active_children()


def test_many_kills_at_any_moment(pipeline, tmp_path, trials, monkeypatch):
    """Workers are killed while they read, work and answer; each run is whole or told."""
    notes, out = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    lines = [json.dumps({"text": f"Took aspirin for a cold. {n}"}) + "\n" for n in range(40)]
    notes.write_text("".join(lines))
    annotate(pipeline, notes, out)
    whole = out.read_text()
    write = JsonlExporter.write
    for trial in range(trials(short=4, long=200)):
        out.write_text("old")

        def kill_one(lines, at):
            for number, line in enumerate(lines):
                if number == at:
                    os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
                yield line

        def write_and_kill(self, lines, path, changes, at=trial * 7 % 40):
            write(self, kill_one(lines, at), path, changes)

        monkeypatch.setattr(JsonlExporter, "write", write_and_kill)
        try:
            annotate(pipeline, notes, out, n_process=2, batch_size=2)
        except ConnormError as error:
            assert "CN716" in str(error)
            assert out.read_text() == "old"
        else:
            assert out.read_text() == whole
        assert not multiprocessing.active_children()
        assert not list(tmp_path.glob(".out*"))


def test_the_gate_is_a_component():
    nlp = spacy.blank("en")
    nlp.add_pipe("gate")
    assert nlp("fine").text == "fine"
