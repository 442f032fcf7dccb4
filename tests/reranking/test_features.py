"""What is known of a candidate besides its score."""

import numpy as np
import pytest

from spacy_connorm.reranking.annotated_counts import AnnotatedCounts
from spacy_connorm.reranking.features import COLUMNS, candidate_features


@pytest.fixture
def described(make_normalizer):
    """A function that describes the candidates of a mention, by concept."""
    lookup = make_normalizer(synonyms=[("cold", "C4"), ("cold", "C4")]).lookup
    counts = AnnotatedCounts.beside(lookup.index, lookup.overlay)

    def describe(mention, elsewhere=()):
        found = lookup.candidates([mention], top_k=3, search="OD-T")[0]
        (key,) = lookup.keys([mention])
        rows = candidate_features(found, counts, key=key, elsewhere=elsewhere)
        assert rows.shape == (len(found), len(COLUMNS)) and rows.dtype == np.float32
        return {
            each.concept_id: dict(zip(COLUMNS, row.tolist(), strict=True))
            for each, row in zip(found, rows, strict=True)
        }

    return describe


def test_what_d_says_of_the_text_and_the_concept(described):
    rows = described("cold")
    assert rows["C4"]["share of the text in D"] == pytest.approx(2 / 3)
    assert (rows["C4"]["text and concept in D"], rows["C4"]["concept in D"]) == (1, 1)
    assert rows["C4"]["count of the concept in D"] > 0
    assert (rows["C3"]["text and concept in D"], rows["C3"]["share of the text in D"]) == (0, 0)


def test_words_that_the_mention_and_the_text_do_not_share(described):
    rows = described("acute heart attack")
    assert rows["C2"]["extra words of the text"] == 0
    assert rows["C2"]["missing words of the text"] == pytest.approx(1 / 3)
    assert rows["C1"]["extra words of the name"] == pytest.approx(1 / 2)


def test_the_order_of_the_sieve_and_the_document(described):
    rows = described("heart attack", elsewhere={"C1"})
    assert (rows["C2"]["first"], rows["C2"]["gap to the first"]) == (1, 0)
    assert rows["C1"]["first"] == 0 and rows["C1"]["gap to the first"] < 0
    assert rows["C1"]["reciprocal rank"] < 1
    assert rows["C1"]["certain elsewhere in the document"] == 1
    assert rows["C2"]["certain elsewhere in the document"] == 0
    assert rows["C2"]["text is the name"] == 1
