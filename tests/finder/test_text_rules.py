"""Tests of windows that have the words of a name but are not mentions."""

import pytest
from finding import make_finder, marked

from spacy_connorm import Concept

from .name_pipeline import build


@pytest.fixture(scope="module")
def nlp():
    """A pipeline with names of organisms. Tests do not change it."""
    names = ("Data", "Rena", "Homo sapiens", "mouse", "blues", "more", "heart attacks", "back")
    nlp = build([*names, "whiting", "TIPS"])
    nlp.get_pipe("mention_finder").cfg["match_capitals"] = True
    return nlp


@pytest.mark.parametrize(
    "text",
    [
        "[Data] is a genus.",
        "Data are missing (unpublished data).",
        "Renal and renal",
        "[TIPS] and tips",
        "[Data] and [Data] are genera, not data.",
        "[Rena] is a genus of snakes.",
        "homo sapiens, [Homo sapiens]",
        "[Mouse], [mice] and [mouse]",
        "a blue or white one, and three [blues]",
        "more and More; [MORE]",
        "one [heart attack]",
    ],
)
def test_everyday_words_are_not_scientific_names(nlp, text):
    assert marked(nlp, text) == text


JOINED = (
    "apex of heart",
    "cone-rod dystrophy 6",
    "cone-rod dystrophy",
    "Wilson sign",
    "type 2 pain",
    "tonic seizure",
    "myoclonic seizure",
    "myoclonus",
    "rod-cone dystrophy type",
    "pain in the chest",
    "ringing in the ears",
    "polymyositis-dermatomyositis",
    "myositis",
    "ataxia type 3",
)


@pytest.fixture(scope="module")
def joining():
    return build(JOINED)


@pytest.mark.parametrize(
    "text",
    [
        "The apex and heart",
        "The apex + heart",
        "the [apex of the heart]",
        "[cone-rod dystrophy] in 6 patients",
        "[Cone-rod dystrophy 6]",
        "6 [cone-rod dystrophy] families",
        "5. [Cone-rod dystrophy]\n6. Gout",
        "[ataxia type\n3] and 3 ataxia types",
        "[pain of type 2]",
        "[pain in my chest] and [ringing in our ears]",
        "[Myoclonic and tonic seizures]",
    ],
)
def test_a_joint_is_one_of_the_name(joining, text):
    assert marked(joining, text) == text


def test_no_word_derives_from_a_short_form():
    nlp = build(["FACE", "retina"])
    assert [ent.text for ent in nlp("Facial and retinal, in FACE").ents] == ["retinal", "FACE"]


def test_a_function_word_is_not_a_short_form_beside_a_word_that_may_be_left_out():
    nlp = build(["AS", "calcium"])
    assert marked(nlp, "such as serum levels") == "such as serum levels"


@pytest.mark.parametrize(
    "text",
    [
        "[MCF7], [MCF 7] and [NDM\u20111]",
        "[A549], [T47D], [T-47-D] and [CD-4]",
        "patient ID 1 was on cAMP, p53, cd4 and Ca2 +",
    ],
)
def test_a_short_form_with_a_number_may_have_other_hyphens_and_capitals(text):
    nlp = build(
        [
            "MCF-7",
            "NDM-1",
            "A-549",
            "T-47D",
            "CD4",
            "MCR-1",
            "QnrS1",
            "AKT1",
            "ID1",
            "WAS",
            "CAMP",
            "P53",
            "Ca2+",
            "E2F1",
            "MIN1",
            "CCL4",
            "Beta2",
            "p100",
        ]
    )
    assert marked(nlp, text) == text


def test_absence_of_what_is_after_it_denies_nothing_before_it():
    nlp = build(["absent speech", "speech", "syndactyly"])
    text = "[Speech] in the absence of [syndactyly]"
    assert marked(nlp, text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[elevated lactate in CSF], [elevated lactate in the CSF]",
        "[increased lactate in CSF] and [lactate] in CSF",
        "[pain in lower back], [pain] in back",
        "[hair loss on scalp], [hair] on scalp",
        "[elevated lactate] with CSF rhinorrhea",
    ],
)
def test_a_place_at_the_end_may_be_inside_the_name(text):
    names = ["Elevated CSF lactate", "elevated lactate", "lactate", "Lower back pain", "pain"]
    names += ["scalp hair loss", "hair"]
    assert marked(build(names), text) == text


def test_a_numbered_short_form_is_not_another_one():
    names = [f"{short}{number}" for number in (1, 2, 3) for short in ("ABCDX", "FGHIJ")]
    concepts = [
        Concept(f"C{number}", f"ABCDX{number}", (f"FGHIJ{number}",)) for number in (1, 2, 3)
    ]
    nlp = make_finder([*concepts, Concept("C4", "ABCDX4")])
    assert [ent.text for ent in nlp(", ".join([*names, "FGHIJ4"])).ents] == names


PARTS = ("Oculocutaneous albinism, type IV", "febrile seizure", "head and neck paraganglioma")


@pytest.mark.parametrize(
    "text",
    [
        "[Albinism, oculocutaneous, type IV]",
        "1. [Albinism, oculocutaneous, type IV]\n2. Gout",
        "[Paragangliomas (head and neck)]",
        "Albinism, oculocutaneous, type IV, gout",
        "seizure, febrile, gout",
        "Fever, seizures",
    ],
)
def test_the_parts_of_a_name_may_have_any_order_on_a_line_of_their_own(text):
    assert marked(build(PARTS), text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[Fracture - femur]",
        "- [Fracture \N{EN DASH} femur]\n- Gout",
        "a fracture - femur and hip were seen",
        "gout - fracture - femur",
    ],
)
def test_a_dash_may_invert_a_name_on_a_line_of_its_own(text):
    assert marked(build(["femur fracture"]), text) == text


RELATED = ("HIV infection", "milk allergy", "alcohol dependence", "allergy", "brain infection")


@pytest.mark.parametrize(
    "text",
    [
        "[infection with HIV]",
        "[allergy to milk], [allergic to milk]",
        "[dependence on alcohol]",
        "[allergy] or milk",
    ],
)
def test_a_preposition_after_a_relational_word_says_no_more_than_of(text):
    assert marked(build(RELATED), text) == text


JOINTS = ("swelling in retinal vessels", "aplasia/hypoplasia of the lens")


@pytest.mark.parametrize(
    "text",
    [
        "[swelling in vessels of retina]",
        "swelling with vessels of retina",
        "[aplastic/hypoplastic lens]",
    ],
)
def test_replaced_words_may_be_joined_as_in_the_name(text):
    assert marked(build(JOINTS), text) == text


def test_an_inverted_agent_is_a_disease():
    text = "[Infections, RNA virus]"
    assert marked(build(["RNA virus infection"]), text) == text
