"""Dev scores of an encoder in training: by hand on a few mentions."""

import pytest

pytest.importorskip("torch")

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.encoders import trainable
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.training.dev_score import DevScore

ONTOLOGY = Ontology(
    [
        Concept("C1", "heart attack", alt_ids=("A1",)),
        Concept("C2", "skin cancer"),
        Concept("C3", "headache"),
    ]
)
SYNONYMS = [("the headache", "C3"), ("attack", "C9")]


def mentions(*texts_and_ids):
    return [Mention(text, "Disease", kb_id, ((0, 1),)) for text, kb_id in texts_and_ids]


@pytest.fixture
def score(tiny_folder):
    """A function that scores the untrained encoder on mentions."""
    block = {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "name": str(tiny_folder),
    }
    encoder = TransformerEncoder(name=str(tiny_folder))
    encoder.initialize()
    module = trainable(encoder)
    return lambda *gold, **settings: DevScore(
        block, ONTOLOGY, SYNONYMS, mentions(*gold), **settings
    )(module)


def test_alternate_ids_and_concepts_of_the_data_count(score):
    found = score(
        ("heart attack", "A1"),
        ("attack", "C9"),
        ("skin cancer", "C1"),
        ("headache", "C3|C2"),
        ("heart", ""),
    )
    assert found["mentions"] == 4
    assert found["lenient@1"] == 75.0
    assert found["strict@1"] == 50.0


def test_a_text_is_seen_if_the_encoder_cannot_tell_it_from_one_of_the_data(score):
    found = score(("The  HEADACHE", "C3"), ("skin cancer", "C2"), ("headache", "C1"))
    # Of the two that D lacks one is right.
    assert found["unseen_lenient@1"] == 50.0
    assert "unseen_lenient@1" not in score(("THE headache", "C3"))


def test_an_encoder_that_is_trained_for_inner_products_is_scored_by_them(score, tiny_folder):
    encoder = TransformerEncoder(name=str(tiny_folder))
    encoder.initialize()
    names = {"heart attack": "C1", "skin cancer": "C2", "headache": "C3", "the headache": "C3"}
    texts = [*names, "attack"]
    vectors, (mention,) = encoder.predict(texts), encoder.predict(["skin attack"])
    best = texts[int((vectors @ mention).argmax())]
    found = score(("skin attack", {**names, "attack": "C9"}[best]), metric="dot")
    assert found["lenient@1"] == 100.0
