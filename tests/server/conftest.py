"""A pipeline that is served, and clients of it."""

import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
from correcting import answers, correct, corrected, path, resolving  # noqa: F401

from spacy_connorm import Concept, Ontology, map_terms
from spacy_connorm.server import make_app


@contextmanager
def running(app, *, root_path="", **settings):
    """Serve an application in a thread; gives its address."""
    try:
        listening = socket.create_server(("127.0.0.1", 0))
    except OSError as error:
        pytest.skip(f"no port of this machine can be opened: {error}")
    with listening:
        quiet = {"log_config": None, "access_log": False, "lifespan": "off"}
        config = uvicorn.Config(app, root_path=root_path, **quiet, **settings)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def serving(make_pipeline, path):
    """A function that serves a pipeline and gives a client."""
    opened = []

    def start(pipeline=None, **options):
        app = make_app(pipeline or make_pipeline(), corrections=path, **options)
        server = running(app)
        client = httpx.Client(base_url=server.__enter__(), trust_env=False, timeout=30)
        opened.append((server, client))
        return client

    yield start
    for server, client in opened:
        client.close()
        server.__exit__(None, None, None)


@pytest.fixture
def client(serving):
    return serving()


@pytest.fixture
def map_table(make_pipeline, tmp_path):
    """A function that maps a table of terms, all of them to be reviewed that it does not accept."""

    def write(table, *, accept):
        (tmp_path / "terms.csv").write_text(table, encoding="utf8")
        out = tmp_path / "out.tsv"
        nlp = make_pipeline(compare_words=False)
        map_terms(nlp, tmp_path / "terms.csv", out, accept=accept, review=0)
        return out

    return write


@pytest.fixture
def evil_names(blank_pipeline):
    """A pipeline whose names hold markup."""
    nlp = blank_pipeline()
    script = "<img src=x onerror=alert(1)>"
    concept = Concept("C1", f"cold {script}", ("cold",), types=(script,), definition=script)
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=Ontology([concept]))
    return nlp
