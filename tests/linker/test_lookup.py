"""Mentions looked up without a document: limits, odd texts, live synonyms."""

import pickle

import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError, ConnormWarning


def ids(normalizer, mention, **limits):
    (candidates,) = normalizer.candidates([mention], **limits)
    return [candidate.concept_id for candidate in candidates]


def first(normalizer, mention):
    (candidates,) = normalizer.candidates([mention])
    return candidates[0]


# Limits


@pytest.mark.parametrize("top_k", [1, 2, 6, 100])
def test_top_k_concepts_each_once_best_first(normalizer, top_k):
    (candidates,) = normalizer.candidates(["cold"], top_k=top_k)
    assert len({candidate.concept_id for candidate in candidates}) == min(top_k, 6)
    scores = [candidate.score for candidate in candidates]
    assert scores == sorted(scores, reverse=True)


def test_setting_limits_all_answers(make_normalizer):
    assert len(ids(make_normalizer(top_k=2), "cold")) == 2


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"types": ["Phenomenon"]}, ["C4"]),
        ({"types": ["Symptom", "Chemical"]}, ["C5", "C6"]),
        ({"branches": ["C1"]}, ["C1", "C2"]),
        ({"branches": ["OMIM:2"]}, ["C2"]),
        ({"types": ["Disease"], "branches": ["C2", "C5"]}, ["C2"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["call", "settings"])
def test_types_and_branches_limit_candidates_in_a_call_and_in_settings(
    make_normalizer, limits, expected, where
):
    if where == "call":
        found = ids(make_normalizer(), "cold", **limits)
    else:
        found = ids(make_normalizer(**limits), "cold")
    assert sorted(found) == expected


def test_ids_and_types_are_cleaned_as_those_of_the_index_are(make_normalizer):
    normalizer = make_normalizer()
    odd = Concept("C\ud8007", "fever", types=("T  1",))
    normalizer.initialize(lambda: [], ontology=Ontology([odd, Concept("C8", "chill")]))
    assert ids(normalizer, "chill", types=["T  1"]) == ["C 7"]
    assert ids(normalizer, "chill", branches=["C\ud8007"]) == ["C 7"]
    normalizer.add_synonyms([("hot", "C\ud8007")])
    assert first(normalizer, "hot").concept_id == "C 7"


def test_filters_of_a_call_stand_in_for_the_settings(make_normalizer):
    normalizer = make_normalizer(types=["Phenomenon"])
    assert ids(normalizer, "cold", types=[], top_k=1) == ["C3"]


def test_filter_finds_k_survivors_however_far_away_they_are(make_normalizer):
    normalizer = make_normalizer()
    near = [Concept(f"N{n}", f"cold {n}", types=("Near",)) for n in range(200)]
    far = [Concept(f"F{n}", f"fever {n}", types=("Far",)) for n in range(8)]
    normalizer.initialize(lambda: [], ontology=Ontology([*near, *far]))
    found = ids(normalizer, "cold", types=["Far"], top_k=8)
    assert sorted(found) == [f"F{n}" for n in range(8)]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"top_k": 0}, "CN006.*top_k"),
        ({"types": ["Planet"]}, "CN406.*Planet"),
        ({"branches": ["C0"]}, "CN406.*C0"),
    ],
)
@pytest.mark.parametrize("mentions", [["cold"], []], ids=["mention", "no mention"])
def test_impossible_limits_are_refused(normalizer, limits, code, mentions):
    with pytest.raises(ConnormError, match=code):
        normalizer.candidates(mentions, **limits)


# Odd mentions


def test_any_string_is_looked_up(normalizer, odd_text):
    (candidates,) = normalizer.candidates([odd_text])
    assert len(candidates) <= 10
    assert candidates == [] or odd_text.strip()


def test_text_of_which_no_character_is_known_has_no_candidates(normalizer):
    with pytest.raises(ConnormError, match=r"CN009.*number 2, a text \(4 characters"):
        normalizer.add_synonyms([("head spinning", "C1"), ("心臓発作", "C1")])
    assert normalizer.candidates(["東京", "心臓発作"]) == [[], []]
    assert not normalizer.lookup.overlay


@pytest.mark.parametrize("mention", [" MI ", "MI\n", "\tMI\0", "\ud800MI"])
def test_dirt_around_a_mention_does_not_matter(normalizer, mention):
    assert first(normalizer, mention) == first(normalizer, "MI")


def test_answers_stand_in_the_order_of_the_mentions(normalizer):
    mentions = ["cold", "", "MI", "cold", "aspirin", "\n"]
    assert normalizer.candidates(mentions) == [
        candidates for mention in mentions for candidates in normalizer.candidates([mention])
    ]


def test_more_mentions_than_are_searched_together(make_normalizer, monkeypatch):
    normalizer = make_normalizer(cache_size=0)
    mentions = ["cold", "MI", "€", "aspirin", "vertigo", "heart disease", "dizziness"]
    together = normalizer.candidates(mentions)
    monkeypatch.setattr("spacy_connorm.linker.linking._BATCH", 2)
    assert normalizer.candidates(mentions) == together


@pytest.mark.parametrize("limits", [{"types": "Disease"}, {"depth": 3}], ids=str)
def test_limits_that_there_are_not(normalizer, limits):
    (name,) = limits
    with pytest.raises(ConnormError, match=f"CN006.*{name}"):
        normalizer.candidates(["cold"], **limits)
    with pytest.raises(ConnormError, match=f"CN006.*{name}"):
        normalizer.explain("cold", **limits)


def test_one_mention_in_no_list(normalizer):
    with pytest.raises(ConnormError, match="CN006.*mentions.*4 characters"):
        normalizer.candidates("cold")


def test_an_empty_list_of_mentions_gets_an_empty_list(normalizer):
    assert normalizer.candidates([]) == []


def test_answers_are_not_shared(normalizer):
    one, other = normalizer.candidates(["MI", "MI"])
    expected = list(one)
    assert expected[0].concept_id == "C2"
    one.clear()
    assert other == expected
    assert normalizer.candidates(["MI"]) == [expected]


# Synonyms


def test_added_synonym_is_found_at_once(normalizer):
    normalizer.add_synonyms([("head spinning", "C5")])
    found = first(normalizer, "head spinning")
    assert (found.concept_id, found.name, found.text) == ("C5", "dizziness", "head spinning")
    assert (found.score, found.search) == (1.0, "D-T")


def test_added_synonym_of_an_alternate_id(normalizer):
    normalizer.add_synonyms([("coronary", "OMIM:2")])
    assert first(normalizer, "coronary").concept_id == "C2"


def test_added_synonym_in_a_name_of_another_concept(normalizer):
    assert first(normalizer, "vertigo").concept_id == "C5"
    normalizer.add_synonyms([("vertigo", "C4")])
    assert first(normalizer, "vertigo").concept_id == "C4"


@pytest.mark.parametrize(("counts", "leader"), [((1, 2), "C6"), ((3, 2), "C5"), ((2, 2), "C5")])
def test_of_two_concepts_the_more_frequent_leads(normalizer, counts, leader):
    for concept_id, count in zip(("C5", "C6"), counts, strict=True):
        normalizer.add_synonyms([("funny turn", concept_id)], count=count)
    assert first(normalizer, "funny turn").concept_id == leader


def test_counts_of_annotated_data_go_on(make_pipeline):
    nlp = make_pipeline(synonyms=[("chill", "C3"), ("chill", "C4"), ("chill", "C4")])
    normalizer = nlp.get_pipe("concept_normalizer")
    assert first(normalizer, "chill").concept_id == "C4"
    normalizer.add_synonyms([("chill", "C3")], count=2)
    assert first(normalizer, "chill").concept_id == "C3"


@pytest.mark.parametrize("change", ["add_synonyms", "remove_synonyms"])
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (("chill", "C0"), "CN411.*C0"),
        ((" \0", "C4"), "CN009"),
        (("", "C4"), "CN009"),
        ("MI", "CN006.*a pair of"),
        (("chill",), "CN006.*a pair of"),
        ((None, "C4"), "CN006.*a pair of"),
    ],
)
def test_bad_pair_changes_nothing(normalizer, change, bad, code):
    before = normalizer.candidates(["vertigo", "head spinning"])
    with pytest.raises(ConnormError, match=code):
        getattr(normalizer, change)([("vertigo", "C5"), ("head spinning", "C5"), bad])
    assert normalizer.candidates(["vertigo", "head spinning"]) == before


def test_a_synonym_with_a_count_under_one_is_refused(normalizer):
    with pytest.raises(ConnormError, match="CN006.*count"):
        normalizer.add_synonyms([("head spinning", "C5")], count=0)


@pytest.mark.parametrize("source", ["ontology", "annotated data", "added"])
def test_removed_synonym_is_not_found(make_pipeline, source):
    text = "vertigo" if source == "ontology" else "head spinning"
    data = [(text, "C5")] if source == "annotated data" else []
    normalizer = make_pipeline(synonyms=data).get_pipe("concept_normalizer")
    if source == "added":
        normalizer.add_synonyms([(text, "C5")])
    assert first(normalizer, text).text == text
    normalizer.remove_synonyms([(text, "C5")])
    (candidates,) = normalizer.candidates([text])
    assert text not in [candidate.text for candidate in candidates]


def test_removed_from_one_concept_stays_with_the_other(normalizer):
    normalizer.remove_synonyms([("cold", "C3")])
    assert first(normalizer, "cold").concept_id == "C4"


def test_a_removed_synonym_that_is_added_again_answers_as_before(normalizer):
    before = first(normalizer, "vertigo")
    normalizer.remove_synonyms([("vertigo", "C5")])
    normalizer.add_synonyms([("vertigo", "C5")])
    after = first(normalizer, "vertigo")
    # Its rival is one of O's names now.
    assert after.probability == pytest.approx(before.probability, abs=0.001)
    assert after == before._replace(search="D-T", probability=after.probability)


@pytest.mark.parametrize("pair", [("nothing", "C5"), ("vertigo", "C4"), ("nothing", "OMIM:2")])
def test_removing_what_is_not_there_is_told(normalizer, pair):
    with pytest.warns(ConnormWarning, match="CNW001.*number 1, "):
        normalizer.remove_synonyms([pair])


def test_an_empty_list_of_synonyms_changes_nothing(normalizer):
    before = normalizer.candidates(["MI"])
    normalizer.add_synonyms([])
    normalizer.remove_synonyms([])
    assert normalizer.candidates(["MI"]) == before


def test_pickled_component_keeps_synonyms(normalizer):
    normalizer.add_synonyms([("head spinning", "C5")])
    normalizer.remove_synonyms([("cold", "C3")])
    mentions = ["head spinning", "cold", "MI"]
    copy = pickle.loads(pickle.dumps(normalizer))
    assert copy.candidates(mentions) == normalizer.candidates(mentions)


def test_an_exact_synonym_comes_before_others(make_normalizer):
    broad = Concept("A1", "pain", ("ache",), broad=("ache",))
    normalizer = make_normalizer()
    normalizer.initialize(lambda: [], ontology=Ontology([broad, Concept("B1", "hurt", ("ache",))]))
    assert ids(normalizer, "ache") == ["B1", "A1"]
    named = Concept("C1", "ache")
    normalizer.initialize(lambda: [], ontology=Ontology([broad, named]))
    assert ids(normalizer, "ache") == ["C1", "A1"]
