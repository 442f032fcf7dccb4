"""Pools written by hand, an encoder input that needs no encoder, and a tiny encoder to train."""

import json
import shutil

import numpy as np
import pytest

from spacy_connorm import Ontology
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.training.pool import SynonymPool, build_pool

NAMES = (
    ("heart attack", "attack of the heart", "acute heart attack"),
    ("headache", "acute headache", "the headache"),
    ("skin cancer", "cancer of the skin", "cancer of skin"),
    ("acute cancer", "cancer", "the acute cancer"),
)


@pytest.fixture(scope="session")
def inputs():
    """An encoder that does not see upper case."""
    return lambda texts: [text.lower().encode() for text in texts]


def make_mention(text, kb_id):
    return Mention(text, "Disease", kb_id, ((0, len(text)),))


@pytest.fixture(scope="session")
def gather(inputs):
    """A function that gathers concepts and mentions: the pool, and the report."""

    def gather(concepts, mentions=(), **settings):
        settings = {"inputs": inputs, "use_ontology": True, "data_share": None, **settings}
        return build_pool(Ontology(concepts), mentions, **settings)

    return gather


@pytest.fixture(scope="session")
def make_pool():
    """A function that makes a pool of the rows that each concept draws in an epoch."""

    def make(*members) -> SynonymPool:
        rows = range(max((row for member in members for row in member), default=-1) + 1)
        return SynonymPool(
            texts=[f"text {row}" for row in rows],
            concepts=[tuple(c for c, each in enumerate(members) if row in each) for row in rows],
            members=[np.asarray(sorted(member), dtype="int32") for member in members],
            concept_ids=[f"C{number}" for number in range(len(members))],
        )

    return make


@pytest.fixture
def pool():
    texts = [name for names in NAMES for name in names]
    return SynonymPool(
        texts=texts,
        concepts=[(number,) for number, names in enumerate(NAMES) for _ in names],
        members=[np.arange(3, dtype="int32") + 3 * number for number in range(len(NAMES))],
        concept_ids=[f"C{number}" for number in range(len(NAMES))],
    )


@pytest.fixture(scope="session")
def one_layer(tiny_folder, tmp_path_factory):
    """The folder of the tiny transformer with its first layer only."""
    folder = shutil.copytree(tiny_folder, tmp_path_factory.mktemp("tiny") / "one-layer")
    config = json.loads((folder / "config.json").read_text(encoding="utf8"))
    config["num_hidden_layers"] = 1
    (folder / "config.json").write_text(json.dumps(config), encoding="utf8")
    return folder


@pytest.fixture
def make_encoder(one_layer):
    """A function that gives the same untrained encoder each time, of one layer."""
    from spacy_connorm.encoders.transformer import TransformerEncoder

    def make():
        encoder = TransformerEncoder(name=str(one_layer))
        encoder.initialize()
        return encoder

    return make


@pytest.fixture
def make_module(make_encoder):
    """A function that gives the module of that encoder."""
    from spacy_connorm.encoders import trainable

    return lambda: trainable(make_encoder())


@pytest.fixture
def run(make_module, pool):
    """A function that trains that encoder on the pool."""
    from spacy_connorm.training.trainer import run_training

    def run(training, folder, **options):
        return run_training(make_module(), pool, training, folder=folder, use_cpu=True, **options)

    return run
