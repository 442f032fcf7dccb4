"""The scores of `nlp.evaluate`."""

import pytest
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_connorm.pipeline.scorer import score_concepts

WORDS = ["An", "MI", "and", "a", "cold", "after", "aspirin", "."]
CORRECT = {"MI": "C2", "cold": "C3", "aspirin": "C6"}


def annotated(vocab, kb_ids, *, spans_key=None):
    """A document with the ids of some of its words."""
    doc = Doc(vocab, words=WORDS)
    spans = [
        Span(
            doc, place, place + 1, label="Chemical" if word == "aspirin" else "Disease", kb_id=kb_id
        )
        for place, word in enumerate(WORDS)
        if (kb_id := kb_ids.get(word)) is not None
    ]
    if spans_key is None:
        doc.ents = spans
    else:
        doc.spans[spans_key] = spans
    return doc


@pytest.fixture
def score(en_vocab):
    def score_ids(predicted, gold, **settings):
        key = settings.get("spans_key")
        docs = (annotated(en_vocab, kb_ids, spans_key=key) for kb_ids in (predicted, gold))
        scores = score_concepts([Example(*docs)], **settings)
        return tuple(scores[f"concept_{name}"] for name in ("p", "r", "f", "acc"))

    return score_ids


@pytest.fixture
def en_vocab(pipeline):
    return pipeline.vocab


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (CORRECT, CORRECT, (1, 1, 1, 1)),
        ({**CORRECT, "MI": "C1"}, CORRECT, (2 / 3, 2 / 3, 2 / 3, 2 / 3)),
        ({**CORRECT, "MI": "NIL"}, CORRECT, (1, 2 / 3, 0.8, 2 / 3)),
        ({"MI": "C2"}, CORRECT, (1, 1 / 3, 0.5, 1)),
        (CORRECT, {"MI": "C2"}, (1 / 3, 1, 0.5, 1)),
        (CORRECT, {**CORRECT, "MI": ""}, (2 / 3, 1, 0.8, 1)),
        ({"MI": "C3|C2"}, {"MI": "C2+C3"}, (1, 1, 1, 1)),
        ({"MI": "C2"}, {"MI": "C2|C3"}, (0, 0, 0, 0)),
        ({"MI": "C2"}, {"cold": "C3"}, (0, 0, 0, None)),
        ({"MI": "NIL"}, {"MI": "-1"}, (None, None, None, None)),
        ({"MI": "NIL"}, {"MI": "CUI-less"}, (None, None, None, None)),
        ({}, {}, (None, None, None, None)),
    ],
    ids=[
        "all right",
        "one wrong",
        "one NIL",
        "two mentions not found",
        "two mentions too many",
        "gold without id",
        "composite",
        "part of a composite",
        "other mentions",
        "nothing linked",
        "gold is CUI-less",
        "nothing at all",
    ],
)
@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_scores(score, predicted, gold, expected, spans_key):
    assert score(predicted, gold, spans_key=spans_key) == pytest.approx(expected)


def test_only_some_labels(score):
    predicted = {**CORRECT, "aspirin": "C1"}
    assert score(predicted, CORRECT, labels=["Disease"]) == (1, 1, 1, 1)
    assert score(predicted, CORRECT, labels=["Chemical"]) == (0, 0, 0, 0)


def test_evaluate(pipeline, en_vocab):
    gold = annotated(en_vocab, {**CORRECT, "cold": "C4"})
    scores = pipeline.evaluate([Example(pipeline.make_doc(gold.text), gold)])
    assert scores["concept_f"] == pytest.approx(2 / 3)
    assert scores["concept_acc"] == pytest.approx(2 / 3)


def test_evaluate_keeps_to_the_labels(make_pipeline):
    nlp = make_pipeline(labels=["Chemical"])
    gold = annotated(nlp.vocab, {**CORRECT, "cold": "C4"})
    assert nlp.evaluate([Example(nlp.make_doc(gold.text), gold)])["concept_f"] == 1


def test_evaluate_with_a_prefix(make_pipeline):
    nlp = make_pipeline(attribute_prefix="own_")
    gold = annotated(nlp.vocab, CORRECT)
    scores = nlp.evaluate([Example(nlp.make_doc(gold.text), gold)])
    assert scores["own_concept_f"] == 1
    assert "concept_f" not in scores


def test_evaluate_without_a_scorer(make_pipeline):
    nlp = make_pipeline(scorer=None)
    gold = annotated(nlp.vocab, CORRECT)
    assert "concept_f" not in nlp.evaluate([Example(nlp.make_doc(gold.text), gold)])


def test_f_score_weighs_in_training(pipeline):
    assert pipeline.get_pipe_meta("concept_normalizer").default_score_weights["concept_f"] == 1


def test_alternate_ids_count_as_the_concepts_they_stand_for(make_pipeline):
    nlp = make_pipeline()
    reference = nlp.make_doc("heart attack")
    reference.ents = [Span(reference, 0, 2, "Disease", kb_id="OMIM:2")]
    examples = [Example(nlp.make_doc("heart attack"), reference)]
    assert nlp.evaluate(examples)["concept_acc"] == 1.0
    predicted = nlp("heart attack")
    assert score_concepts([Example(predicted, reference)])["concept_acc"] == 0.0
