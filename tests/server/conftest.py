"""A pipeline that is served, and clients of it."""

import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from spacy_connorm import Concept, Ontology
from spacy_connorm.server import CorrectedPipeline, make_app

NOTE = "Complains of head spinning after a cold."
OTHER_NOTE = "No more head spinning. Had a cold, took aspirin."


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corrections.jsonl"


@pytest.fixture
def corrected(make_pipeline, path):
    """A pipeline with corrections, whose ruler finds "cold", "head spinning" and others."""
    return CorrectedPipeline(make_pipeline(), path)


@pytest.fixture
def resolving(make_pipeline, path):
    """A pipeline with corrections that reads the abbreviations of documents."""
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", first=True)
    return CorrectedPipeline(nlp, path)


@pytest.fixture
def answers():
    """A function that gives what a pipeline finds in a text: ids by mention."""

    def read(pipeline, text):
        (record,) = pipeline.annotate([text])
        return {ent["text"]: ent["kb_id"] for ent in record["ents"]}

    return read


@pytest.fixture
def correct():
    """A function that corrects a mention of a text."""

    def say(pipeline, text, mention, kb_id, **options):
        start = text.index(mention)
        return pipeline.correct(text, start, start + len(mention), kb_id, **options)

    return say


@contextmanager
def running(app, *, root_path=""):
    """Serve an application in a thread; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        quiet = {"log_config": None, "access_log": False, "lifespan": "off"}
        config = uvicorn.Config(app, root_path=root_path, **quiet)
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
def evil_names(blank_pipeline):
    """A pipeline whose names hold markup."""
    nlp = blank_pipeline()
    script = "<img src=x onerror=alert(1)>"
    concept = Concept("C1", f"cold {script}", ("cold",), types=(script,), definition=script)
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=Ontology([concept]))
    return nlp
