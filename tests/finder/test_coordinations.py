"""Coordinated mentions are found whole, and split by the normalizer."""

import pytest
import spacy
from finding import make_finder, marked, plain

from spacy_connorm import Concept
from spacy_connorm.finder.coordinations import coordination_joiner
from spacy_connorm.finder.found_mentions import FoundMention
from spacy_connorm.pipeline.tokenization import separate_joined_words
from spacy_connorm.text.words import words_of

from .name_pipeline import build

NAMES = ("breast cancer", "ovarian cancer", "lung cancer", "cancer of the colon", "colon cancer")
OTHERS = ("cough", "renal failure", "heart failure", "type 1 diabetes", "type 2 diabetes")
CELLS = (
    "Hodgkin lymphoma",
    "non-Hodgkin lymphoma",
    "T-cell lymphoma",
    "B-cell lymphoma",
    "acute T-cell lymphoma",
    "acute B-cell lymphoma",
)
BONES = ("femur", "tibia", "fibula")
TYPES = dict.fromkeys(BONES, "Anatomy")
FRACTURES = ("fracture of the femur", "fracture of the tibia", "fracture of the fibula")


def make_pipeline(*names):
    return make_finder(Concept(name, name, types=(TYPES.get(name, "Finding"),)) for name in names)


@pytest.fixture(scope="module")
def nlp():
    return make_pipeline(*NAMES, *OTHERS, *CELLS)


@pytest.mark.parametrize(
    "text",
    [
        "[breast and ovarian cancer]",
        "Her [breast, ovarian and lung cancers].",
        "[cancer of the breast] or spleen",
        "[cancer of the breast or ovary]",
        "[cancer of the colon and lung]",
        "[cancer of the colon and lung] limited her activities",
        "[cancer of the colon] and lung tissue",
        "[type 1 and type 2 diabetes]",
        "[renal/heart failure]",
        "[breast, ovarian, and lung cancer]",
        "both [breast as well as lung cancer]",
        "[breast and/or lung cancer]",
        "[breast + lung cancer]",
        "[breast and\nlung cancer]",
        "breast and\n\n[lung cancer]",
        "[T-cell and B-cell lymphoma]",
        "[acute T-cell and B-cell lymphoma]",
        "[Hodgkin] and [non-Hodgkin lymphoma]",
        "[breast cancer] and [lung and colon cancer]",
        "[cough] and [lung cancer]",
        "severe and [lung cancer]",
        "fish and chips, [lung cancer]",
        "breast, [lung cancer]",
        "and [lung cancer] and",
        "[cancer of the colon] and in a node",
        "[cancer of the colon] and with pain",
        "a cancer and ovarian cysts",
        "shock, failure or renal stones",
        "",
    ],
)
def test_each_part_must_be_a_name(nlp, text):
    assert marked(nlp, text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[Short, broad fingers].",
        "She has [short, broad fingers]",
        "red, [broad fingers]",
        "[long, short, broad fingers]",
        "[pain], [broad fingers]",
        "short. [broad fingers]",
        "[low-set, broad fingers]",
        "[pain] in [low-set, broad fingers]",
    ],
)
def test_adjectives_share_a_noun_across_commas(text):
    names = ("short fingers", "broad fingers", "long fingers", "low-set fingers", "pain")
    nlp = make_pipeline(*names)
    assert marked(nlp, text) == text
    last = nlp(plain(text)).ents[-1]
    assert last.kb_id_.count("|") == last.text.count(",")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a [mild to severe deafness]", "mild deafness|severe deafness"),
        ("[Mild-to-severe deafness]", "mild deafness|severe deafness"),
        ("used to [severe deafness]", "severe deafness"),
        ("mild to total [deafness]", "deafness"),
    ],
)
def test_a_range_of_grades_is_the_first_and_the_last(text, parts):
    nlp = make_pipeline("mild deafness", "severe deafness", "deafness")
    assert marked(nlp, text) == text
    assert [ent.kb_id_ for ent in nlp(plain(text)).ents] == [parts]


def test_the_normalizer_splits_them(nlp):
    (ent,) = nlp("Breast and ovarian cancer").ents
    assert ent.kb_id_ == "breast cancer|ovarian cancer"
    explanation = nlp.get_pipe("mention_finder").explain(ent)
    assert explanation.is_mention and not explanation.reason


def test_parts_are_linked_to_the_names_that_the_finder_matched():
    # By its letters, "low potassium" is nearer to the second.
    low = ("low blood potassium levels", "recurrent low potassium", "low blood sodium levels")
    nlp = make_pipeline(*low, "low sodium to potassium ratio")
    (ent,) = nlp("Low sodium and potassium").ents
    assert ent.kb_id_ == "low blood sodium levels|low blood potassium levels"
    assert ent._.matched_name == ent.kb_id_


def test_it_can_be_switched_off(nlp):
    finder = nlp.get_pipe("mention_finder")
    finder.cfg["coordinations"] = False
    try:
        assert [ent.text for ent in nlp("breast and ovarian cancer").ents] == ["ovarian cancer"]
    finally:
        finder.cfg["coordinations"] = True


def test_neighbours_are_not_taken_twice():
    doc = spacy.blank("en")("b c and d and e c")
    mentions = [FoundMention(0, 2, 1.0, "X"), FoundMention(5, 7, 1.0, "X")]
    names = {"b c": "B c", "b d": "", "d c": "d c", "e c": "e c"}
    (joined,) = coordination_joiner(words_of("en")).join(
        [doc], [mentions], lambda texts: {text: names[text] for text in names.keys() & texts}, "X"
    )
    assert [(each.start, each.end) for each in joined] == [(0, 4), (5, 7)]


@pytest.mark.parametrize(
    "text",
    [
        "[fracture of the femur, tibia and fibula]",
        "[femur], [tibia] and [fibula]",
        "[tibia or femur fractures]",
        "[tibia] and [fracture of the femur]",
    ],
)
def test_names_of_another_type_that_share_a_head_are_taken_in(text):
    assert marked(make_pipeline(*BONES, *FRACTURES), text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[Clinodactyly of the 4th and 5th fingers].",
        "[clinodactyly of 4th, and 5th fingers]",
        "[Clinodactyly] of the 4th and large feet",
    ],
)
def test_the_first_part_may_add_its_own_words_to_a_name(text):
    fingers = (f"clinodactyly of the {number} finger" for number in ("4th", "5th"))
    assert marked(make_pipeline("clinodactyly", *fingers), text) == text


def test_a_preposition_may_be_repeated():
    nlp = make_pipeline("cancer of the ovary", "cancer of the fallopian tube")
    text = "cancer of the ovary and of the fallopian tube"
    (ent,) = nlp(text).ents
    assert (ent.text, ent.kb_id_) == (text, "cancer of the ovary|cancer of the fallopian tube")


def test_names_of_the_same_type_stay():
    nlp = make_pipeline("squamous cell papilloma", "carcinoma", "squamous cell carcinoma")
    found = [ent.text for ent in nlp("squamous cell papilloma and carcinoma").ents]
    assert found == ["squamous cell papilloma", "carcinoma"]


@pytest.mark.parametrize(
    "text",
    [
        "[pain and swelling of the joints]",
        "[pain or swelling of joints]",
        "[fever] and [swelling of the joints]",
        "[pain] and [fever]",
    ],
)
def test_a_name_shares_the_end_of_the_next_one_if_both_are_names_with_it(text):
    nlp = make_pipeline("pain", "fever", "joint pain", "joint swelling")
    assert marked(nlp, text) == text


@pytest.mark.parametrize(
    "text", ["type I and II diabetes", "type 1 or 2 diabetes", "type 1/2 diabetes"]
)
def test_a_head_that_is_a_name_itself_is_shared(text):
    nlp = make_pipeline("diabetes", "type 1 diabetes", "type 2 diabetes")
    (ent,) = nlp(text).ents
    assert (ent.text, ent.kb_id_) == (text, "type 1 diabetes|type 2 diabetes")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[short, broad fingers and toes]", "short finger|broad finger|short toe|broad toe"),
        ("[Short and broad fingers and toes]", "short finger|broad finger|short toe|broad toe"),
        ("[broad fingers and toes]", "broad finger|broad toe"),
        ("thin, [broad fingers and toes]", "broad finger|broad toe"),
    ],
)
def test_each_modifier_goes_with_each_head(text, parts):
    nlp = make_pipeline("short finger", "broad finger", "short toe", "broad toe")
    assert marked(nlp, text) == text
    assert [ent.kb_id_ for ent in nlp(plain(text)).ents] == [parts]


def test_words_that_stand_for_those_of_a_name_make_a_part():
    nlp = make_pipeline("kidney anomaly", "limb anomaly", "ear anomaly", "anal anomaly")
    (ent,) = nlp("She had anal, renal, limb and ear anomalies.").ents
    assert ent.text == "anal, renal, limb and ear anomalies"


@pytest.mark.parametrize(
    ("text", "parts"), [("MMP-2/-9", "MMP-2|MMP-9"), ("PPARα/γ", "PPARα|PPARγ")]
)
def test_members_of_a_family_share_its_name(text, parts):
    nlp = make_pipeline(*parts.split("|"))
    nlp.tokenizer = spacy.blank("en", vocab=nlp.vocab).tokenizer
    separate_joined_words(nlp)
    (ent,) = nlp(f"Levels of {text} rose.").ents
    assert (ent.text, ent.kb_id_) == (text, parts)


def test_limbs_are_completed_at_the_hyphen():
    nlp = make_pipeline("forelimb", "hindlimb")
    (ent,) = nlp("The fore- and hindlimb were stiff.").ents
    assert (ent.text, ent.kb_id_) == ("fore- and hindlimb", "forelimb|hindlimb")


def test_numbers_of_a_name_may_be_joined_by_a_conjunction():
    nlp = make_pipeline("2-3 toe syndactyly", "toe syndactyly", "collar bone")
    assert marked(nlp, "[Syndactyly of toes 2 and 3].") == "[Syndactyly of toes 2 and 3]."


def test_a_short_form_of_several_findings_is_divided_like_its_long_form():
    names = ("nausea", "vomiting", "diarrhea", "nausea and vomiting")
    nlp = make_finder([Concept(name, name) for name in names], first=["abbreviation_resolver"])
    resolver = nlp.get_pipe("abbreviation_resolver")
    resolver.cfg["short_forms"] = {
        "n/v": "nausea and vomiting",
        "n/v/d": "nausea, vomiting and diarrhea",
    }
    found = [ent._.matched_name for ent in nlp("Reports n/v/d. No n/v today.").ents]
    assert found == ["nausea", "vomiting", "diarrhea", "nausea and vomiting"]


def test_a_short_form_in_one_word_of_several_findings_is_their_mention():
    names = ("vomiting", "diarrhea", "fever")
    nlp = make_finder([Concept(name, name) for name in names], first=["abbreviation_resolver"])
    nlp.get_pipe("abbreviation_resolver").cfg["short_forms"] = {
        "D&V": "diarrhea and vomiting",
        "F&C": "fever and chills",
    }
    # Each part must be a name.
    found = [(ent.text, ent.kb_id_) for ent in nlp("No D&V since Monday, F&C before.").ents]
    assert found == [("D&V", "diarrhea|vomiting")]


def test_parts_that_are_names_answer_although_the_whole_is_near_another_name():
    nlp = make_pipeline("pain in left knee", "pain in right knee", "pain in right hip")
    (ent,) = nlp("Pain in left knee and right hip").ents
    assert ent.kb_id_ == "pain in left knee|pain in right hip"


def test_a_text_alone_is_a_name_with_no_other_words():
    nlp = build(("In situ carcinoma", "Edema (hand)", "CD4+", "Heart defect"))
    texts = {
        "in situ carcinoma": "In situ carcinoma",
        "edema (hand)": "Edema (hand)",
        "CD4+": "CD4+",
        "a defect of the heart": "Heart defect",
        "cardiac defect": "",
        "defects of the heart": "Heart defect",
        "heart": None,
        "heart defect and edema": None,
        "severe heart defect": None,
        "": None,
    }
    names = nlp.get_pipe("mention_finder").names_among(texts)
    assert {text: names.get(text) for text in texts} == texts
