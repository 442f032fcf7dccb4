"""What the component is told, and what it does with a stream of documents."""

import numpy as np
import pytest
import spacy
from confection import ConfigValidationError

from spacy_connorm.errors import ConnormError

TEXTS = ["An MI and a cold.", "Nothing here.", "", "MI, cold, aspirin.", "A heart attack, no cold."]


def answers(doc):
    return [(ent.text, ent.kb_id_, ent._.candidates) for ent in doc.ents]


def encoded_by(normalizer):
    return normalizer.lookup.encoder.shims[0].encoded


@pytest.fixture
def hashing_pipeline(make_pipeline, hashes):
    nlp = make_pipeline(**hashes)
    encoded_by(nlp.get_pipe("concept_normalizer")).clear()
    return nlp


def test_adding_it_loads_nothing():
    normalizer = spacy.blank("en").add_pipe("concept_normalizer")
    assert not normalizer.lookup.is_ready
    assert normalizer.lookup.encoder.shims[0].width == 0


@pytest.mark.parametrize(
    "use",
    [
        lambda nlp, normalizer: nlp("An MI."),
        lambda nlp, normalizer: nlp("No mention."),
        lambda nlp, normalizer: list(nlp.pipe(["An MI."])),
        lambda nlp, normalizer: normalizer.candidates(["MI"]),
        lambda nlp, normalizer: normalizer.explain("MI"),
        lambda nlp, normalizer: normalizer.add_synonyms([("head spinning", "C5")]),
        lambda nlp, normalizer: normalizer.remove_synonyms([("vertigo", "C5")]),
        lambda nlp, normalizer: normalizer.to_bytes(),
    ],
    ids=["call", "no mention", "pipe", "candidates", "explain", "add", "remove", "to_bytes"],
)
def test_use_before_initialize_is_a_value_error_like_spacys(blank_pipeline, use):
    nlp = blank_pipeline()
    with pytest.raises(ValueError, match="CN001"):
        use(nlp, nlp.get_pipe("concept_normalizer"))


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"top_k": 0}, "CN006.*top_k"),
        ({"sieve": {"@misc": "spacy-connorm.Sieve.v1", "searches": ["O-X"]}}, "CN118.*O-X"),
        ({"sieve": {"@misc": "spacy-connorm.Sieve.v1", "thresholds": []}}, "CN006.*one for each"),
    ],
)
def test_impossible_settings_are_refused(blank_pipeline, settings, code):
    with pytest.raises(ConnormError, match=code):
        blank_pipeline(**settings)


@pytest.mark.parametrize("settings", [{"topk": 3}, {"labels": "Disease"}, {"types": 1}])
def test_unknown_setting_and_wrong_type_are_spacys_errors(blank_pipeline, settings):
    with pytest.raises(ConfigValidationError, match=next(iter(settings))):
        blank_pipeline(**settings)


def test_pipe_refuses_empty_batches(pipeline):
    normalizer = pipeline.get_pipe("concept_normalizer")
    with pytest.raises(ConnormError, match="CN006.*batch_size"):
        list(normalizer.pipe([pipeline.make_doc("A cold.")], batch_size=0))


def test_pipe_answers_as_one_by_one(pipeline):
    one_by_one = [answers(pipeline(text)) for text in TEXTS]
    assert [answers(doc) for doc in pipeline.pipe(TEXTS, batch_size=2)] == one_by_one


def test_pipe_keeps_the_order_and_the_contexts(pipeline):
    numbered = [(text, number) for number, text in enumerate(TEXTS)]
    piped = [(doc.text, number) for doc, number in pipeline.pipe(numbered, as_tuples=True)]
    assert piped == numbered


UNKNOWN = ["ASA.", "Head spinning, ASA.", "An MI.", "ASA, ASA."]


def test_pipe_encodes_each_unknown_mention_once_and_no_known_one(hashing_pipeline):
    list(hashing_pipeline.pipe([*TEXTS, *UNKNOWN], batch_size=2))
    encoded = encoded_by(hashing_pipeline.get_pipe("concept_normalizer"))
    assert sorted(encoded) == ["asa"]


def test_without_a_cache_mentions_are_encoded_once_a_batch(make_pipeline, hashes):
    nlp = make_pipeline(**hashes, cache_size=0)
    encoded = encoded_by(nlp.get_pipe("concept_normalizer"))
    encoded.clear()
    list(nlp.pipe(UNKNOWN, batch_size=2))
    assert encoded == ["asa", "asa"]


def test_mentions_that_the_encoder_cannot_tell_apart_are_encoded_once(hashing_pipeline):
    normalizer = hashing_pipeline.get_pipe("concept_normalizer")
    lower, upper = normalizer.candidates(["asa", "Asa"])
    assert [each._replace(searched="Asa") for each in lower] == upper
    assert len(encoded_by(normalizer)) == 1


def test_predict_changes_nothing(pipeline):
    doc = pipeline("An MI.", disable=["concept_normalizer"])
    (found,) = pipeline.get_pipe("concept_normalizer").predict([doc])
    assert [candidates[0].concept_id for candidates in found] == ["C2"]
    assert answers(doc) == [("MI", "", [])]


def fail_on_cold(normalizer, monkeypatch):
    predict = normalizer.predict

    def failing(docs):
        if any("cold" in doc.text for doc in docs):
            raise RuntimeError("cold")
        return predict(docs)

    monkeypatch.setattr(normalizer, "predict", failing)


def test_error_handler_gets_the_batch_and_the_rest_goes_on(pipeline, monkeypatch):
    normalizer = pipeline.get_pipe("concept_normalizer")
    fail_on_cold(normalizer, monkeypatch)
    failed = []
    normalizer.set_error_handler(
        lambda name, component, docs, error: failed.append((name, [doc.text for doc in docs]))
    )
    docs = list(normalizer.pipe(map(pipeline.make_doc, TEXTS), batch_size=1))
    assert [doc.text for doc in docs] == TEXTS[1:3]
    assert failed == [("concept_normalizer", [text]) for text in (TEXTS[0], *TEXTS[3:])]


def test_without_an_error_handler_the_error_is_raised(pipeline, monkeypatch):
    fail_on_cold(pipeline.get_pipe("concept_normalizer"), monkeypatch)
    with pytest.raises(RuntimeError, match="cold"):
        list(pipeline.pipe(TEXTS))


def test_document_whose_error_is_ignored_comes_back_as_it_was(pipeline, monkeypatch):
    fail_on_cold(pipeline.get_pipe("concept_normalizer"), monkeypatch)
    pipeline.set_error_handler(lambda *args: None)
    assert answers(pipeline("A cold.")) == [("cold", "", [])]


@pytest.mark.parametrize(
    ("limit", "value", "expected"),
    [
        ("top_k", 0, "a whole number, at least 1"),
        ("types", "nope", "a list of texts"),
        ("branches", [None], "a list of texts"),
    ],
)
def test_invalid_limits_are_refused(normalizer, limit, value, expected):
    with pytest.raises(ConnormError, match=f"CN006.*`{limit}` must be {expected}"):
        normalizer.candidates(["cold"], **{limit: value})


def test_limits_may_be_any_collection_and_number(normalizer):
    asked = {"types": {"Disease"}, "branches": iter(["C1"]), "top_k": np.int64(1)}
    ((found,),) = normalizer.candidates(["heart attack"], **asked)
    assert found.concept_id == "C2"


@pytest.mark.parametrize("threshold", [1, 0.0, np.float32(0.5), None])
def test_without_probabilities_nothing_is_nil(make_pipeline, threshold):
    pipeline = make_pipeline(compare_words=False)
    pipeline.get_pipe("concept_normalizer").cfg["nil_threshold"] = threshold
    assert pipeline("A cold.").ents[0].kb_id_ == "C3"
