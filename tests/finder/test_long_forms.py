"""Tests of short forms that documents do not define."""

import pytest
from finding import make_finder, marked

from spacy_connorm import Concept

CONCEPTS = [
    Concept("1", "glucocorticoid-suppressible hyperaldosteronism", ("GSH", "FH 1")),
    Concept("2", "acquired immunodeficiency syndrome", ("AIDS",)),
    Concept("3", "NAD"),
    Concept("4", "ISCHEMIC STROKE"),
    Concept("5", "syndrome of inappropriate antidiuretic hormone secretion", ("SIADH",)),
    Concept("7", "Hepatolenticular degeneration", ("Wilson disease", "WND")),
    Concept("8", "von Hippel-Lindau disease", ("VHL",)),
    Concept("9", "sac"),
    Concept("6", "infection by a coronavirus of 2019", ("SARS-CoV-2", "COVID-19")),
]
LONG = " The mice were given the drug." * 20


def build(**settings):
    """RETURNS (Language): A pipeline with these concepts, and what documents define."""
    return make_finder(CONCEPTS, first=["abbreviation_resolver"], **settings)


@pytest.fixture(scope="module")
def nlp():
    """A pipeline with the default settings. Tests do not change it."""
    return build()


@pytest.mark.parametrize(
    "text",
    [
        "GSH was low.",
        "Glutathione (GSH) was low. GSH rose.",
        "[AIDS], [SIADH].",
        "[GSH] was suppressible, a hyperaldosteronism of glucocorticoid.",
        "Hyperaldosteronism, 1 kind. GSH.",
        "[NAD] was low.",
        "WND was rare.",
        "The [Wilson disease] gene ([WND]) and [WND].",
        "[von Hippel-Lindau (VHL) disease]: the [VHL] gene, [VHL disease].",
        "Starburst amacrine cells (SACs), the SAC, and a [sac].",
        "Ventral hernia length (VHL) rose, and VHL fell.",
        "[ISCHEMIC STROKE] was known.",
        "[SARS-CoV-2] and [COVID-19] are too long to mean something else.",
    ],
)
def test_a_longer_text_defines_its_short_forms_or_has_words_of_their_long_forms(nlp, text):
    assert marked(nlp, text + LONG) == text + LONG
    assert marked(nlp, "[GSH] was low.") == "[GSH] was low."
    # What the text defines as something else is not found in a short one, either.
    assert marked(nlp, "Ventral hernia length (VHL)") == "Ventral hernia length (VHL)"


@pytest.mark.parametrize(
    "text",
    [
        "[von Hippel-Lindau (VHL) disease]",
        "[Factor X [FX] deficiency] or [factor X (FX) deficiency]",
        "enzyme (ENZ, 3 U) deficiency; enzyme, ENZ, deficiency",
    ],
)
def test_a_short_form_in_brackets_may_be_inside_a_name(text):
    names = ["von Hippel-Lindau disease", "factor X deficiency", "enzyme deficiency"]
    concepts = [Concept(name, name) for name in names]
    doc_text = text.replace("[FX]", "(FX)")
    assert marked(make_finder(concepts, first=["abbreviation_resolver"]), doc_text) == doc_text


def test_they_are_found_on_request():
    found = build(undefined_short_forms=True)("GSH was low." + LONG)
    assert [ent.kb_id_ for ent in found.ents] == ["1"]


def test_what_a_user_added_is_found():
    nlp = build()
    nlp.get_pipe("concept_normalizer").add_synonyms([("GSH", "3")])
    assert [ent.text for ent in nlp("GSH was low." + LONG).ents] == ["GSH"]


def test_the_explanation_names_the_setting(nlp):
    doc = nlp("GSH was low." + LONG)
    explained = nlp.get_pipe("mention_finder").explain(doc[:1])
    assert not explained.is_mention and "undefined_short_forms" in explained.reason
    assert explained.names == ("GSH",)


def test_a_side_after_a_short_form_is_left_out():
    concepts = [Concept("C1", "Avascular necrosis of femoral head")]
    nlp = make_finder(concepts, first=["abbreviation_resolver"])
    nlp.get_pipe("abbreviation_resolver").cfg["short_forms"] = {"AVN": "avascular necrosis"}
    assert marked(nlp, "[AVN of the left femoral head]") == "[AVN of the left femoral head]"
