"""Names with punctuation between their words, and with small words at their ends."""

import pytest
from finding import marked

from spacy_connorm.errors import ConnormError
from spacy_connorm.finder.name_edges import edges_of
from spacy_connorm.text.words import words_of

from .name_pipeline import build

NAMES = (
    "Diabetes Mellitus, Type 2",
    "Carcinoma, Non-Small-Cell Lung",
    "edema (hand)",
    "edema",
    "Essential (primary) hypertension",
    "hypertension",
    "St. Louis encephalitis",
    "T(9;22)",
    "in situ carcinoma",
    "exposure to",
    "hemoglobin [Hb], low",
    "pain",
    "arthritis",
    "fever",
    "arthritis, rheumatoid",
    "(S)-warfarin intolerance",
    "type 3 lobular carcinoma",
    "type 2 St. Louis encephalitis",
    "ductal carcinoma",
    "left gout",
)


@pytest.fixture(scope="module")
def nlp():
    return build([*NAMES, "ductal carcinoma, infiltrating, NOS"])


def found(nlp, text):
    return [ent.text for ent in nlp(text).ents]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_found_as_written(nlp, name):
    assert found(nlp, name) == [name]
    # spaCy makes no token of its own of every mark before a capital.
    assert [each.lower() for each in found(nlp, name.lower())] == [name.lower()] or "T(" in name


@pytest.mark.parametrize(
    "text",
    [
        "Has [diabetes mellitus, type II], and [fever].",
        "[type 2 diabetes mellitus]",
        "[Carcinoma, lobular, type 3], and [pain]",
        "A carcinoma lobular, type 3",
        "the joint disease ([arthritis, rheumatoid]), ([arthritis], rheumatoid nodules)",
        "A carcinoma (lobular), type 3",
        "Diabetes mellitus. Type 2 errors",
        "[ST. LOUIS ENCEPHALITIS]",
        "No [edema (hand)].",
        "No [edema] (hand, foot).",
        "Has a [carcinoma (ductal)], a [hypertension] (essential, primary)",
        "type 3\n- lobular carcinoma",
        "Has [gout (left)], and gout (late).",
        "A (primary) [essential hypertension]",
        "an intolerance (S)-warfarin",
        "an [(S)-warfarin intolerance]",
        "Was [in situ carcinoma].",
        "in [carcinoma in situ]",
        "[carcinoma situ]",
        "[exposure to] [fever]",
        "[exposure]",
        "No diabetes mellitus, [type 2 diabetes mellitus]",
        "A carcinoma, [type 3 lobular carcinoma]",
        "A [diabetes mellitus,\ntype 2]",
        "A [carcinoma, lobular,\ntype 3]",
        "[arthritis]\nrheumatoid",
        "[Edema], hand",
        "[Essential, primary hypertension]",
        "[St. Louis encephalitis, type 2]",
    ],
)
def test_punctuation_must_be_where_the_name_has_it(nlp, text):
    assert marked(nlp, text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[Pain], [arthritis], rheumatoid [fever]",
        "1. [Arthritis, rheumatoid]\n2) [fever]",
        "- [arthritis, rheumatoid].\n- [pain]",
        "[arthritis], rheumatoid nodules",
        "JOINTS: [Arthritis, rheumatoid]; [fever]",
        "[pain] | [arthritis, rheumatoid] | [fever]",
        "A [ductal carcinoma], [fever]",
        "1: [Arthritis, rheumatoid]\n2: [fever]",
        "- [Carcinoma, lobular, type 3]\n- [fever]",
    ],
)
def test_two_items_of_a_list_are_not_a_name(nlp, text):
    assert marked(nlp, text) == text


def test_names_of_annotated_documents_are_found_in_lists(nlp):
    nlp.get_pipe("concept_normalizer").add_synonyms([("pain, oedema", "pain")])
    assert found(nlp, "fever, pain, oedema, fever") == ["fever", "pain, oedema", "fever"]
    assert found(nlp, "fever, pain, edema, fever") == ["fever", "pain", "edema", "fever"]


def test_it_is_explained(nlp):
    finder = nlp.get_pipe("mention_finder")
    doc = nlp("fever, arthritis, rheumatoid nodules (primary) essential hypertension")
    assert finder.explain(doc[2:5]).rule == "list"
    assert finder.explain(doc[6:11]).rule == "other punctuation"


def test_only_names_with_small_words_at_an_end_have_edges():
    (edge,) = edges_of(["in situ carcinoma", "carcinoma in situ", "of the"], words_of("en"))
    assert (edge.before, edge.after, edge.words) == (1, 0, ["in", "situ", "carcinoma"])


@pytest.fixture(scope="module")
def cells():
    """Names that the tokenizer takes apart, as words and as signs."""
    return build(
        (
            "can't sleep",
            "cannot walk",
            "walk",
            "Ca2+",
            "Fe(3+)",
            "CD4+",
            "Ca2+ channel defect",
            "vitamin D3+",
            "cancer -",
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        "I [can't sleep].",
        "I [can’t sleep]",
        "[Cannot walk], can [walk], can not [walk]",
        "She wouldn't [walk]",
        "[Ca2+] and [Fe(3+)] enter [CD4+] cells.",
        "Ca2 + Fe, CD4- and CD4",
        "A [Ca2+ channel defect]",
        "[Vitamin D3+] is low",
        "[Cancer] - mild",
    ],
)
def test_names_that_the_tokenizer_takes_apart(cells, text):
    assert marked(cells, text) == text


def test_a_document_of_one_token_has_no_parts(cells):
    assert [found(cells, text) for text in ("", "walk", "n't")] == [[], ["walk"], []]


def test_only_spans_are_explained(nlp):
    with pytest.raises(ConnormError, match="CN006.*`span` must be a span"):
        nlp.get_pipe("mention_finder").explain("pain")
