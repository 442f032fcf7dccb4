"""Pools written by hand, and an encoder input that needs no encoder."""

import numpy as np
import pytest

from spacy_connorm.training.pool import SynonymPool


@pytest.fixture(scope="session")
def inputs():
    """An encoder that does not see upper case."""
    return lambda texts: [text.lower().encode() for text in texts]


@pytest.fixture(scope="session")
def make_pool():
    """A function that makes a pool of the rows that each concept draws in an epoch."""

    def make(*members) -> SynonymPool:
        rows = range(max((row for each in members for row in each), default=-1) + 1)
        return SynonymPool(
            texts=[f"text {row}" for row in rows],
            concepts=[tuple(c for c, each in enumerate(members) if row in each) for row in rows],
            members=[np.asarray(sorted(each), dtype="int32") for each in members],
            concept_ids=[f"C{number}" for number in range(len(members))],
        )

    return make
