"""The tiny transformer of all tests, loaded."""

import pytest


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    """A loaded encoder. Tests do not change it."""
    from spacy_connorm.encoders.transformer import TransformerEncoder

    model = TransformerEncoder(name=str(tiny_folder))
    model.initialize()
    return model
