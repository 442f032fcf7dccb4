"""Two encoders over one ontology: a certain one answers, the other reads the rest."""

import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.encoders import encode
from spacy_connorm.errors import ConnormError
from spacy_connorm.linker import lookup_files

# Sure of all that n-grams find with a cosine over 0.7.
CALIBRATION = {"intercept": -70.0, "score": 100.0, "margin": 0.0}
OTHER = {"intercept": -1.0, "score": 2.0, "margin": 0.0}
MENTIONS = ["heart attack", "heart attacks", "head spinning", "hart disease", ""]


@pytest.fixture
def settings(hashes):
    """Settings of a cascade from n-grams to hashes."""

    def make(**changed):
        cascade = {
            "@misc": "spacy-connorm.Cascade.v1",
            **hashes,
            "sieve": {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []},
            "min_probability": 0.5,
            "calibration": OTHER,
        }
        return {"calibration": CALIBRATION, "cascade": {**cascade, **changed}, "memo_size": 0}

    return make


@pytest.fixture
def alone(make_normalizer, hashes):
    """The second encoder in a normalizer of its own, with the same sieve."""
    sieve = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}
    return make_normalizer(**hashes, sieve=sieve, calibration=OTHER)


def second_asked(normalizer):
    return normalizer.lookup.second.encoder.shims[0].encoded


def test_uncertain_mentions_are_read_by_the_second_encoder(make_normalizer, settings, alone):
    cascade, first = make_normalizer(**settings()), make_normalizer(calibration=CALIBRATION)
    second_asked(cascade).clear()
    found = cascade.candidates(MENTIONS)
    firsts = first.candidates(MENTIONS)
    sure = [bool(each) and each[0].probability >= 0.5 for each in firsts]
    assert sure == [True, True, False, True, False]
    assert second_asked(cascade) == ["head spinning"]
    seconds = alone.candidates(MENTIONS)
    assert found == [
        one if is_sure else other for one, other, is_sure in zip(firsts, seconds, sure, strict=True)
    ]
    assert found[2][0].probability == alone.candidates(["head spinning"])[0][0].probability


@pytest.mark.parametrize(("least", "asked"), [(0.0, 0), (1.0, 3)])
def test_min_probability_says_who_answers(make_normalizer, settings, least, asked):
    cascade = make_normalizer(**settings(min_probability=least))
    second_asked(cascade).clear()
    cascade.candidates(MENTIONS)
    assert len(second_asked(cascade)) == asked


def test_texts_of_the_index_need_no_second_encoder(make_normalizer, settings):
    # "cold" denotes two concepts, so its margin is zero for any encoder.
    sure_of_margins = {"intercept": -5.0, "score": 0.0, "margin": 100.0}
    cascade = make_normalizer(**{**settings(), "calibration": sure_of_margins})
    second_asked(cascade).clear()
    (found,) = cascade.candidates(["cold"])
    assert {each.concept_id for each in found[:2]} == {"C3", "C4"}
    assert not second_asked(cascade)


def test_parts_and_long_forms_go_to_one_encoder(make_normalizer, settings, alone):
    cascade = make_normalizer(**settings(min_probability=1.0))
    texts, long_forms = ["hart and skin disease", "HD"], ["", "hart disease"]
    found = cascade.candidates(texts, long_forms=long_forms)
    assert found == alone.candidates(texts, long_forms=long_forms)


def test_texts_are_answered_alike_without_interpretations(make_normalizer, settings):
    cascade = make_normalizer(**settings())
    found = cascade.lookup.candidates(MENTIONS, top_k=1)
    read = cascade.candidates(MENTIONS, top_k=1)
    assert found == read
    second_asked(cascade).clear()
    (alone,) = cascade.lookup.candidates(["dizzy"], top_k=3, search="O-T")
    (searched,) = cascade.candidates(["dizzy"], top_k=3, search="O-T")
    assert alone == [each._replace(probability=None) for each in searched]
    assert alone[0].search == "O-T" and not second_asked(cascade)


def test_explain_shows_who_answers(make_normalizer, settings):
    cascade = make_normalizer(**settings())
    first, second = map(cascade.explain, ("heart attacks", "head spinning"))
    assert [each.is_second for each in (first, second)] == [False, True]
    assert [step.search for step in first.steps] == ["D-T", "OD-T"]
    assert [step.search for step in second.steps] == ["OD-T"]
    expected = cascade.candidates(["head spinning"])[0][0].concept_id
    assert second.steps[0].candidates[0].concept_id == expected


def test_both_learn_and_forget_synonyms(make_normalizer, settings):
    cascade = make_normalizer(**settings(min_probability=1.0))
    cascade.add_synonyms([("head spinning", "C5")])
    for lookup in cascade.lookup.lookups:
        found = lookup.candidates(["head spinning"], top_k=1)
        assert [each[0].concept_id for each in found] == ["C5"]
        assert lookup.changed_synonyms()[0].text == "head spinning"
    with pytest.warns(UserWarning, match="CNW001"):
        cascade.remove_synonyms([("head spinning", "C5"), ("no such text", "C1")])
    assert [lookup.changed_synonyms() for lookup in cascade.lookup.lookups] == [[], []]


def test_what_one_of_them_refuses_changes_neither(make_normalizer, settings):
    cascade = make_normalizer(**settings())
    # N-grams know nothing of these characters; hashes know everything.
    with pytest.raises(ConnormError, match="CN009"):
        cascade.add_synonyms([("vertige", "C5"), ("ღღ", "C1")])
    assert [lookup.changed_synonyms() for lookup in cascade.lookup.lookups] == [[], []]


def test_it_is_read_whole_or_not_at_all(make_normalizer, blank_normalizer, settings):
    other = blank_normalizer(**settings(min_probability=1.0))
    other.initialize(lambda: [], ontology=Ontology([Concept("D1", "head spinning")]))
    cascade = make_normalizer(**settings(min_probability=1.0))
    before = cascade.candidates(MENTIONS)
    # The encoders are left out: the hashes are the same, the n-grams are of other texts.
    with pytest.raises(ConnormError, match="CN410"):
        cascade.from_bytes(other.to_bytes(), exclude=["encoder"])
    assert cascade.candidates(MENTIONS) == before
    cascade.add_synonyms([("head spinning", "C5")])
    assert cascade.candidates(["head spinning"])[0][0].concept_id == "C5"


def test_what_is_added_while_it_is_saved(make_normalizer, blank_normalizer, settings, monkeypatch):
    cascade = make_normalizer(**settings())

    def write(*args):
        cascade.add_synonyms([("head spinning", "C5")])
        return write_overlay(*args)

    write_overlay = lookup_files.write_overlay
    monkeypatch.setattr(lookup_files, "write_overlay", write)
    saved = blank_normalizer(**settings()).from_bytes(cascade.to_bytes())
    first, second = (lookup.changed_synonyms() for lookup in saved.lookup.lookups)
    assert first == second


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"min_probability": 1.5}, "CN006.*cascade.min_probability.*1.5"),
        ({"calibration": {"slope": 1.0}}, "CN006.*calibration"),
    ],
)
def test_invalid_settings(blank_pipeline, settings, changed, message):
    with pytest.raises(ConnormError, match=message):
        blank_pipeline(**settings(**changed))


def test_a_cascade_must_know_when_it_is_certain(blank_pipeline, settings):
    with pytest.raises(ConnormError, match="CN006.*`calibration`.*`cascade`"):
        blank_pipeline(**{**settings(), "calibration": None})
    with pytest.raises(ConnormError, match="CN006.*`cascade`"):
        blank_pipeline(cascade={"@misc": "spacy-connorm.ExactIndex.v1"})


def test_inner_products_are_no_certainty(blank_pipeline, settings):
    dot = {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot"}
    with pytest.raises(ConnormError, match="CN421.*`cascade = null`"):
        blank_pipeline(**settings(index=dot))


def test_vectors_of_both_are_reused(make_normalizer, settings, ontology):
    old, new = make_normalizer(**settings()), make_normalizer(**settings())
    new.lookup.prepare_build(reused=old.lookup)
    second_asked(new).clear()
    new.initialize(lambda: [], ontology=ontology)
    assert not second_asked(new)
    text = ["heart attack"]
    assert (encode(new.lookup.encoder, text) != encode(old.lookup.encoder, text)).nnz == 0
