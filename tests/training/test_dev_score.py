"""Dev scores of an encoder in training: by hand on a few mentions."""

import numpy as np
import pytest

pytest.importorskip("torch")

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.encoders import encode, trainable
from spacy_connorm.encoders.grounded import WordVectorEncoder
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.metrics import score_retrieval
from spacy_connorm.training.dev_score import LinkingScore, RetrievalScore, score_saved

from .conftest import NAMES

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
    encoder = TransformerEncoder(name=str(tiny_folder))
    encoder.initialize()
    module = trainable(encoder)

    def block_of(folder):
        return {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": str(folder)}

    def score(*gold, **settings):
        linking = LinkingScore(ONTOLOGY, SYNONYMS, mentions(*gold), **settings)
        return score_saved(module, linking, block_of)

    return score


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


RETRIEVED = Ontology(
    Concept(f"C{number}", names[0], names[1:], alt_ids=(f"A{number}",))
    for number, names in enumerate(NAMES)
)


def test_retrieval_ranks_the_names_of_o_and_d(fasttext):
    synonyms = [("the skin", "C2"), ("the heart", "C9")]
    asked = [("cancer skin", "A2"), ("attack", "C0"), ("heart", "C9"), ("zzz", "C8"), ("of", "")]
    encoder = WordVectorEncoder(name=str(fasttext))
    found = RetrievalScore(RETRIEVED, synonyms, mentions(*asked))(encoder)
    names = [*(name for names in NAMES for name in names), "the skin", "the heart"]
    relevant = [[6, 7, 8, 12], [0, 1, 2], [13]]
    queries = encode(encoder, [text for text, _ in asked[:3]])
    expected = score_retrieval(queries, encode(encoder, names), list(map(np.asarray, relevant)))
    assert found.pop("mentions") == 3
    assert found == {key: round(100 * each, 2) for key, each in expected._asdict().items()}


def test_dev_mentions_of_no_known_concept():
    with pytest.raises(ConnormError, match="CN810"):
        RetrievalScore(RETRIEVED, [], mentions(("skin cancer", "C9")))
