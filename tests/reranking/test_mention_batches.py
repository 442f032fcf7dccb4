"""The mentions of a document as a reranker sees them."""

import numpy as np
import pytest
from spacy.tokens import Span

from spacy_connorm.reranking.annotated_counts import AnnotatedCounts
from spacy_connorm.reranking.features import COLUMNS
from spacy_connorm.reranking.mention_batches import describe_mentions
from spacy_connorm.reranking.name_vectors import name_vectors

ELSEWHERE = COLUMNS.index("certain elsewhere in the document")
SHARE = COLUMNS.index("share of the text in D")


@pytest.fixture
def describe(make_pipeline):
    """A function that describes mentions of a text, given as their tokens."""
    nlp = make_pipeline(synonyms=[("head spinning", "C5")])
    normalizer = nlp.get_pipe("concept_normalizer")
    lookup = normalizer.lookup

    def run(text, *places, sentences=()):
        doc = nlp.make_doc(text)
        for token in doc:
            token.is_sent_start = token.i in sentences if sentences else None
        spans = [Span(doc, *place) for place in places]
        found = normalizer.candidates([span.text for span in spans], search="OD-T")
        counts = AnnotatedCounts.beside(lookup.index, lookup.overlay)
        return describe_mentions(spans, found, lookup.retriever, counts)

    return run


def rows_of(batch, mention):
    own = np.flatnonzero(batch.mention == mention)
    return {batch.names[place]: batch.features[place] for place in own}


def test_a_context_is_what_stands_around_a_mention(describe):
    text = "One . Two cold three . Four"
    alone, within = describe(text, (3, 4)), describe(text, (3, 4), sentences=(0, 2, 6))
    assert alone.contexts[0].tolist() == [0, 1, 2, 4, 5, 6]
    assert within.contexts[0].tolist() == [2, 4, 5]
    assert describe("cold", (0, 1)).contexts[0].tolist() == [0]
    assert len(describe("word " * 500 + "cold", (500, 501)).contexts[0]) == 25


def test_what_other_texts_certainly_link_to(describe):
    same = describe("cold and cold", (0, 1), (2, 3))
    assert not same.features[:, ELSEWHERE].any()
    other = describe("a heart attack , MI", (1, 3), (4, 5))
    for mention in (0, 1):
        rows = rows_of(other, mention)
        assert [name for name, row in rows.items() if row[ELSEWHERE]] == ["heart attack"]


def test_line_breaks_in_a_mention_do_not_matter(describe):
    rows = rows_of(describe("head \n spinning", (0, 3)), 0)
    assert rows["dizziness"][SHARE] == pytest.approx(0.5)


def test_nothing_to_describe(describe):
    batch = describe("nothing")
    assert batch.features.shape == (0, len(COLUMNS)) and not batch.contexts and not batch.names


@pytest.mark.parametrize("encoder", ["hashes", "hybrid"])
def test_vectors_of_names_are_those_of_the_encoder(make_normalizer, request, encoder):
    lookup = make_normalizer(**request.getfixturevalue(encoder)).lookup
    names = ["heart attack", "never seen", "aspirin"]
    vectors = name_vectors(names, lookup.retriever)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-2)
    encoded = lookup.encoder.predict(names)
    dense = np.asarray(encoded.dense if encoder == "hybrid" else encoded)
    dense = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, dense, atol=1e-2)
    assert name_vectors([], lookup.retriever).shape == (0, vectors.shape[1])
