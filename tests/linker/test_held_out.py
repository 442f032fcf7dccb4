"""A lookup that does not know some documents of D."""

import pytest

from spacy_connorm.linker.held_out import hold_out


@pytest.fixture
def lookup(make_normalizer):
    d = [("head spinning", "C5"), ("infarct", "C2"), ("infarct", "C2"), ("vertigo", "C5")]
    return make_normalizer(synonyms=d).lookup


def first_text(lookup, mention):
    return lookup.candidates([mention], top_k=3)[0][0].text


def test_what_only_these_mentions_say_is_left_out(lookup):
    held = hold_out(lookup, [("head spinning", "C5")])
    assert first_text(lookup, "head spinning") == "head spinning"
    (found,) = held.candidates(["head spinning"], top_k=9)
    assert "head spinning" not in [each.text for each in found]


def test_what_others_say_stays(lookup):
    once, twice = hold_out(lookup, [("infarct", "C2")]), hold_out(lookup, [("infarct", "C2")] * 2)
    assert first_text(once, "infarct") == "infarct"
    assert first_text(twice, "infarct") != "infarct"


def test_what_the_ontology_says_stays(lookup):
    assert first_text(hold_out(lookup, [("vertigo", "C5")]), "vertigo") == "vertigo"


def test_unknown_concepts_and_texts_are_ignored(lookup):
    held = hold_out(lookup, [("infarct", "C99"), ("no such text", "C1"), (" ", "C1")])
    assert first_text(held, "infarct") == "infarct"


def test_the_lookup_itself_does_not_change(lookup):
    before = lookup.retriever
    hold_out(lookup, [("head spinning", "C5")])
    assert lookup.retriever is before


def test_synonyms_that_were_added_and_removed_stay_so(lookup):
    lookup.add_synonyms([("turning", "C5")])
    lookup.remove_synonyms([("heart attack", "C2")])
    held = hold_out(lookup, [("head spinning", "C5")])
    assert first_text(held, "turning") == "turning"
    assert first_text(held, "heart attack") != "heart attack"


def test_both_encoders_of_a_cascade(make_normalizer, hashes):
    calibration = {"score": 10.0, "margin": 0.0, "intercept": -5.0}
    normalizer = make_normalizer(
        synonyms=[("head spinning", "C5")],
        calibration=calibration,
        cascade={
            "@misc": "spacy-connorm.Cascade.v1",
            "encoder": hashes["encoder"],
            "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
            "sieve": {"@misc": "spacy-connorm.Sieve.v1"},
        },
    )
    held = hold_out(normalizer.lookup, [("head spinning", "C5")])
    for own in held.lookups:
        assert first_text(own, "head spinning") != "head spinning"
    assert first_text(normalizer.lookup.second, "head spinning") == "head spinning"


def test_how_often_users_have_added_a_text_counts(lookup):
    lookup.add_synonyms([("turning", "C5")], count=2)
    once, twice = hold_out(lookup, [("turning", "C5")]), hold_out(lookup, [("turning", "C5")] * 2)
    assert first_text(once, "turning") == "turning"
    assert first_text(twice, "turning") != "turning"


def test_a_text_that_is_left_out_is_read_as_one_that_never_was_there(make_normalizer, ontology):
    settings = {"extra_words_weight": 0.3}
    known = make_normalizer(synonyms=[("heart attack today", "C5")], **settings).lookup
    never = make_normalizer(**settings).lookup

    def scores(lookup):
        found = lookup.candidates(["heart attack today"], top_k=3, search="OD-T")[0]
        return [(each.concept_id, round(each.score, 4)) for each in found]

    held = hold_out(known, [("heart attack today", "C5")])
    lowered = [concept for concept, score in scores(held)]
    assert lowered == [concept for concept, score in scores(never)]
    assert "C5" not in lowered[:1]
