"""What says the same as a name in other words."""

import pytest
from finding import body_findings, make_finder, marked

from spacy_connorm import Concept
from spacy_connorm.files.package_data import read_toml
from spacy_connorm.finder import paraphrases
from spacy_connorm.finder.distinctive_words import WordFeatures
from spacy_connorm.finder.paraphrases import ParaphraseFeatures

NAMES = (
    "Difficulty climbing stairs",
    "Hoarse voice",
    "Refusal to attend school",
    "Depression",
    "Enlarged spleen",
    "Portal vein thrombosis",
    "STAIRS",
)
CONCEPTS = [*body_findings(), *(Concept(name, name) for name in NAMES)]


@pytest.fixture(scope="module")
def nlp():
    return make_finder(CONCEPTS, min_paraphrase=0.5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hoarse voice. He finds it [difficult to climb stairs].", "Difficulty climbing stairs"),
        ("Hoarse voice; [school was refused] again.", "Refusal to attend school"),
        # A rule refused it since no name has these words in this order.
        ("Hoarse voice. [Stairs are a struggle] for her.", "Difficulty climbing stairs"),
    ],
)
def test_what_says_the_same_is_found_and_linked(nlp, text, name):
    doc = nlp(text.replace("[", "").replace("]", ""))
    found = {ent.text: ent.kb_id_ for ent in doc.ents}
    assert found[text.partition("[")[2].partition("]")[0]] == name


@pytest.mark.parametrize(
    "text",
    [
        # What a rule of the finder refused.
        "Hoarse voice. ST depression was seen.",
        # How it is meant would be lost.
        "Hoarse voice. Lumps without any neck.",
        "Hoarse voice. School possibly refused.",
        # One word is too little, and so is what is far from all names.
        "Hoarse voice. Climbing.",
        "Hoarse voice. The meeting was moved to Friday afternoon.",
        # A mention has these words.
        "Portal vein thrombosis.",
        # Not across a comma.
        "Hoarse voice. School, refused.",
    ],
)
def test_others_are_not_found(nlp, text):
    allowed = {"Hoarse voice", "Portal vein thrombosis"}
    assert {ent.kb_id_ for ent in nlp(text).ents} <= allowed


def test_a_mention_nearby_makes_a_paraphrase_more_probable(nlp):
    finder = nlp.get_pipe("mention_finder").name_finder()
    query = nlp.get_pipe("concept_normalizer").query()
    alone, beside = map(nlp.make_doc, ("School was refused.", "School was refused. Hoarse voice."))
    docs = [alone, beside]
    far, near = (
        next(one for one in listed if one.end == 3)
        for listed in finder.list_paraphrases(docs, finder.find(docs), query)
    )
    assert far.start == near.start == 0
    assert (far.features.near, near.features.near) == (0, 1)
    assert far.features.probability < near.features.probability < 1


def test_none_are_found_with_one_as_the_minimum(nlp):
    finder = nlp.get_pipe("mention_finder")
    text = "Hoarse voice; [school was refused] again."
    assert marked(nlp, text) == "[Hoarse voice]; [school was refused] again."
    before, finder.cfg["min_paraphrase"] = finder.cfg["min_paraphrase"], 1.0
    assert marked(nlp, text) == "[Hoarse voice]; school was refused again."
    finder.cfg["min_paraphrase"] = before


def test_few_names_have_none():
    nlp = make_finder([Concept(name, name) for name in NAMES], min_paraphrase=0.0)
    assert marked(nlp, "Hoarse voice; school was refused again.").startswith(
        "[Hoarse voice]; school"
    )


def test_many_names_have_none(monkeypatch):
    monkeypatch.setattr(paraphrases, "_MOST_NAMES", len(CONCEPTS) - 1)
    nlp = make_finder(CONCEPTS, min_paraphrase=0.0)
    assert marked(nlp, "Hoarse voice; school was refused again.").startswith(
        "[Hoarse voice]; school"
    )


def test_scores_that_are_not_cosines_tell_nothing():
    settings = {"index": {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot"}}
    settings |= {"compare_words": False, "split_composites": False}
    settings["sieve"] = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}
    nlp = make_finder(CONCEPTS, min_paraphrase=0.0, normalizer=settings)
    text = "[Hoarse voice]; [school] was refused."
    assert marked(nlp, "Hoarse voice; school was refused.") == text


def test_a_paraphrase_is_explained(nlp):
    doc = nlp("Hoarse voice; school was refused again.")
    explained = nlp.get_pipe("mention_finder").explain(doc.ents[1])
    assert explained.is_mention
    assert not explained.rule


def test_stop_texts_and_short_names_have_none():
    settings = {"stop_texts": ["refusal to attend school"], "min_paraphrase": 0.3}
    nlp = make_finder(CONCEPTS, **settings)
    doc = nlp("Hoarse voice; school was refused again; stairs and more stairs.")
    assert {ent.kb_id_ for ent in doc.ents}.isdisjoint({"Refusal to attend school", "STAIRS"})


@pytest.mark.parametrize(
    ("table", "features"), [("paraphrases", ParaphraseFeatures), ("words", WordFeatures)]
)
def test_each_feature_has_a_weight(table, features):
    weights = read_toml("spacy_connorm.finder", "paraphrases.toml")[table]
    assert [*weights] == ["intercept", *features._fields]
    assert weights["near"] > 0 > weights["intercept"]
