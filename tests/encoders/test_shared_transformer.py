"""The encoder that has no transformer of its own, beside a stand-in for spacy-transformers'."""

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_connorm import Concept, Ontology
from spacy_connorm.encoders import TransformerEncoder, encode
from spacy_connorm.encoders.pretrained import load_pretrained
from spacy_connorm.errors import ConnormError

ONTOLOGY = Ontology([Concept("C1", "heart attack"), Concept("C2", "skin cancer")])


class StandIn:
    """A component with a transformer, which is read when the pipeline is."""

    def __init__(self, folder):
        self.folder = folder
        self.model = self
        self.tokenizer = self.transformer = None

    def __call__(self, doc):
        return doc

    def initialize(self, get_examples=None, nlp=None):
        self.tokenizer, self.transformer = load_pretrained(self.folder)

    def to_disk(self, path, exclude=()):
        path.mkdir()

    def from_disk(self, path, exclude=()):
        self.initialize()


@pytest.fixture(scope="module", autouse=True)
def stand_in():
    Language.factory("stand_in", default_config={"folder": ""})(
        lambda nlp, name, folder: StandIn(folder)
    )


@pytest.fixture
def make(tiny_folder):
    """A function that makes a pipeline with a transformer and a normalizer."""

    def build(*, before=True, **settings):
        nlp = spacy.blank("en")
        encoder = {"@architectures": "spacy-connorm.SharedTransformerEncoder.v1", **settings}
        nlp.add_pipe("concept_normalizer", config={"encoder": encoder})
        place = {"first": True} if before else {"last": True}
        config = {"folder": str(tiny_folder)}
        nlp.add_pipe("stand_in", name="transformer", config=config, **place)
        return nlp

    return build


@pytest.fixture
def initialized(make):
    nlp = make()
    nlp.get_pipe("transformer").initialize()
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=ONTOLOGY)
    return nlp


def held(nlp):
    return nlp.get_pipe("concept_normalizer").lookup.encoder.shims[0]._model


def test_vectors_are_those_of_a_transformer_of_its_own(initialized, tiny_folder):
    alone = TransformerEncoder(name=str(tiny_folder), pooling="mean", max_length=64)
    alone.initialize()
    texts = ["heart attack", "", "the skin cancer of the heart"]
    shared = initialized.get_pipe("concept_normalizer").lookup.encoder
    np.testing.assert_allclose(encode(shared, texts), encode(alone, texts), atol=1e-6)
    assert held(initialized).transformer is initialized.get_pipe("transformer").transformer


def test_nothing_is_saved_twice_and_the_loaded_pipeline_shares_again(initialized, tmp_path):
    initialized.to_disk(tmp_path / "pipeline")
    saved = tmp_path / "pipeline" / "concept_normalizer" / "encoder"
    assert saved.stat().st_size < 200
    nlp = spacy.load(tmp_path / "pipeline")
    assert held(nlp).transformer is nlp.get_pipe("transformer").transformer
    assert nlp.get_pipe("concept_normalizer").candidates(["heart attack"])[0][0].concept_id == "C1"


def test_a_transformer_that_was_trained_since_is_refused(initialized, tmp_path):
    initialized.to_disk(tmp_path / "pipeline")
    weights = next(initialized.get_pipe("transformer").transformer.parameters())
    weights.data += 1
    with pytest.raises(ConnormError, match="CN325.*transformer.*frozen_components"):
        initialized.to_disk(tmp_path / "other")
    (tmp_path / "trained").mkdir()
    held(initialized).save(tmp_path / "trained")
    with pytest.raises(ConnormError, match="CN325"):
        spacy.load(
            tmp_path / "pipeline",
            config={"components.transformer.folder": str(tmp_path / "trained")},
        )
    # Indexed again, all fits.
    normalizer = initialized.get_pipe("concept_normalizer")
    normalizer.initialize(lambda: [], nlp=initialized, ontology=ONTOLOGY)
    initialized.to_disk(tmp_path / "again")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"component": "trf"}, "no such component"),
        ({"component": "concept_normalizer"}, "not a `transformer`"),
        ({}, "not loaded yet"),
    ],
)
def test_what_is_not_a_transformer_is_named(make, settings, reason):
    nlp = make(**settings)
    normalizer = nlp.get_pipe("concept_normalizer")
    with pytest.raises(ConnormError, match=f"CN323.*{reason}"):
        normalizer.initialize(lambda: [], nlp=nlp, ontology=ONTOLOGY)


def test_vectors_of_unit_length(make):
    nlp = make(normalize=True)
    nlp.get_pipe("transformer").initialize()
    encoder = nlp.get_pipe("concept_normalizer").lookup.encoder
    encoder.initialize()
    lengths = np.linalg.norm(encode(encoder, ["heart attack", "skin"]), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
