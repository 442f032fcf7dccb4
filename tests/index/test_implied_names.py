"""Names that follow from others."""

import pytest
from finding import make_finder

from spacy_connorm import Concept
from spacy_connorm.index.implied_names import implied_names
from spacy_connorm.text.words import words_of

WORDS = words_of("en")
CATARACT = Concept("1", "Cataract", ("Lens opacity",))
SUBCAPSULAR = Concept("2", "Subcapsular cataract", ("Subcapsular opacities",), parents=("1",))
POSTERIOR = Concept("3", "Posterior subcapsular cataract", parents=("2",))
EYES = (CATARACT, SUBCAPSULAR, POSTERIOR)


def implied(*concepts):
    return {" ".join(name): " ".join(of) for name, of in implied_names(concepts, WORDS).items()}


def test_a_broader_name_inside_a_name_is_replaced_by_another_one():
    assert implied(*EYES) == {
        "lens opacity subcapsular": "cataract subcapsular",
        "opacity posterior subcapsular": "cataract posterior subcapsular",
        "lens opacity posterior subcapsular": "cataract posterior subcapsular",
    }


def test_a_name_of_several_concepts_stands_for_no_other_one():
    nuclear = Concept("4", "Nuclear cataract", parents=("1",))
    twin = Concept("5", "Lens opacity")
    assert implied(CATARACT, nuclear, twin) == {}


def test_a_name_that_says_less_replaces_no_other_one():
    carcinoma = Concept("1", "Papillary renal carcinoma", ("Renal carcinoma", "Kidney carcinoma"))
    sporadic = Concept("2", "Sporadic papillary renal carcinoma", parents=("1",))
    assert implied(carcinoma, sporadic) == {
        "carcinoma kidney sporadic": "carcinoma papillary renal sporadic",
        "carcinoma kidney papillary sporadic": "carcinoma papillary renal sporadic",
    }


def test_the_words_of_the_broader_name_stand_side_by_side():
    familial = Concept("1", "Familial breast cancer", ("Hereditary breast cancer",))
    both = Concept("2", "Familial breast and ovarian cancer", parents=("1",))
    assert implied(familial, both) == {}


def test_a_name_that_follows_for_several_concepts_is_left_out():
    nuclear = Concept("4", "Nuclear cataract", parents=("1",))
    twin = Concept("5", "Cataract, nuclear", parents=("1",))
    assert implied(CATARACT, nuclear) == {"lens nuclear opacity": "cataract nuclear"}
    assert implied(CATARACT, nuclear, twin) == {}


@pytest.mark.parametrize(
    "concept",
    [
        Concept("4", "Nuclear cataract"),
        Concept("4", "Nuclear opacity of the eye", parents=("1",)),
        Concept("4", "Lens cataract", parents=("1",)),
        Concept("1", "Nuclear cataract", ("Cataract",), parents=("1",)),
        Concept("4", "Nuclear cataract", parents=("unknown",)),
        Concept("4", "Cataract grade 4", parents=("1",)),
    ],
    ids=[
        "no parent",
        "no name inside",
        "a word twice",
        "its own parent",
        "an unknown parent",
        "a number",
    ],
)
def test_nothing_follows_without_the_name_of_a_broader_concept(concept):
    names = implied(concept) if concept.concept_id == "1" else implied(CATARACT, concept)
    assert names == {}


def test_inexact_synonyms_are_not_implied():
    broad = Concept("1", "Cataract", ("Eye disease",), related=("Eye disease",))
    assert implied(broad, Concept("4", "Nuclear cataract", parents=("1",))) == {}


def test_a_broader_concept_has_the_name_of_its_grades():
    delay = Concept("1", "Developmental delay")
    mild = Concept("2", "Mild delay", ("Mild psychomotor retardation", "Fever"), parents=("1",))
    severe = Concept("3", "Severe delay", ("Psychomotor retardation, severe",), parents=("1",))
    other = Concept("3", "Severe delay", ("Psychomotor retardation, severe",), parents=("4",))
    twice = Concept("2", "Mild delay", ("Mild psychomotor retardation",) * 2, parents=("1",))
    profound = Concept("5", "Profound psychomotor retardation", parents=("1",))
    assert implied(delay, mild, severe) == {}  # acute and chronic may be different diseases
    assert implied(delay, mild, severe, profound) == {
        "psychomotor retardation": "delay developmental"
    }
    assert implied(delay, mild, other, profound) == {}
    assert implied(delay, twice, twice) == {}


def test_a_name_follows_from_the_opposite_amount():
    high = Concept("1", "Increased bone mineral density", ("Increased bone density",))
    low = Concept("2", "Reduced bone mineral density")
    assert implied(high, low) == {"bone density reduced": "reduced bone mineral density"}
    shape = Concept("3", "Big bone mineral density", ("Big bone density",))
    assert implied(shape, low) == {}


def test_texts_are_found_by_implied_names_and_linked():
    nlp = make_finder(EYES, normalizer={"top_k": 1})
    (ent,) = nlp("The left eye has posterior subcapsular opacities.").ents
    assert (ent.text, ent.kb_id_) == ("posterior subcapsular opacities", "3")


def test_what_another_concept_is_called_is_not_implied():
    other = Concept("4", "Posterior subcapsular opacity")
    nlp = make_finder((*EYES, other), normalizer={"top_k": 1})
    assert [ent.kb_id_ for ent in nlp("Posterior subcapsular opacities.").ents] == ["4"]


ELBOW = Concept("1", "Lateral epicondylitis", ("Tennis elbow",))
LEFT = Concept("2", "Lateral epicondylitis, left elbow", parents=("1",))


def test_the_side_of_a_narrower_name_goes_with_the_names_of_the_broader_one():
    assert implied(ELBOW, LEFT) == {
        "epicondylitis lateral left": "lateral epicondylitis left elbow",
        "elbow left tennis": "lateral epicondylitis left elbow",
    }


def test_a_side_in_the_middle_of_a_name_goes_with_the_broader_names():
    shaft = Concept("1", "Fracture of shaft of femur", ("Fracture of diaphysis of femur",))
    right = Concept("2", "Fracture of shaft of right femur", parents=("1",))
    assert implied(shaft, right) == {
        "diaphysis femur fracture right": "fracture shaft right femur",
    }


@pytest.mark.parametrize(
    "other",
    [
        Concept("3", "Epicondylitis of the upper end, left elbow", parents=("1",)),
        Concept("3", "Open left epicondylitis", parents=("1",)),
    ],
)
def test_a_side_that_two_narrower_concepts_have_is_not_enough(other):
    assert implied(ELBOW, LEFT, other) == {}


def test_a_side_before_other_words_is_not_enough():
    seizure = Concept("1", "Seizure", ("Fit",))
    tonic = Concept("2", "Bilateral tonic seizure", parents=("1",))
    assert "bilateral fit" not in implied(seizure, tonic)


def test_what_is_unspecified_may_be_left_out():
    burn = Concept("1", "Burn of unspecified degree of left ear")
    wound = Concept("2", "Wound of unspecified ear")
    assert implied(burn, wound) == {"burn ear left": "burn degree ear left unspecified"}


def test_a_type_may_be_left_out_before_its_number():
    usher = Concept("1", "Usher syndrome type 1")
    another = Concept("2", "Another syndrome type 2A")
    assert implied(usher, another) == {
        "1 syndrome usher": "1 syndrome type usher",
        "2 A another syndrome": "2 A another syndrome type",
    }
    assert implied(Concept("5", "Type 2 diabetes"), Concept("6", "Type 2 blood group")) == {}


def test_what_only_says_that_one_thing_comes_of_another_may_be_left_out():
    assert implied(Concept("1", "Pneumonia caused by Legionella")) == {
        "legionella pneumonia": "caused legionella pneumonia"
    }
    assert implied(Concept("2", "Caused fever"), Concept("3", "Harm caused")) == {}


def test_a_drug_is_prescribed_without_its_salt_its_route_and_its_only_form():
    tartrate = Concept("1", "metoprolol tartrate 50 MG Oral Tablet")
    released = Concept("2", "metoprolol succinate 50 MG Extended Release Oral Tablet")
    names = implied(tartrate, released)
    assert names["50 metoprolol mg tablet"] == "50 metoprolol mg oral tablet tartrate"
    assert names["50 metoprolol mg tablet tartrate"] == "50 metoprolol mg oral tablet tartrate"
    assert names["50 metoprolol mg"] == "50 metoprolol mg oral tablet tartrate"
    assert names["50 extended metoprolol mg release tablet"].startswith("50 extended metoprolol")
    capsule = Concept("3", "metoprolol tartrate 50 MG Oral Capsule")
    assert "50 metoprolol mg" not in implied(tartrate, released, capsule)


def test_a_brand_stands_for_what_it_is_made_of():
    generic = Concept("1", "atorvastatin 40 MG Oral Tablet")
    brand = Concept("2", "atorvastatin 40 MG Oral Tablet [Lipitor]")
    names = implied(generic, brand)
    assert names["40 lipitor mg tablet"] == "40 atorvastatin lipitor mg oral tablet"
    assert names["40 atorvastatin mg tablet"] == "40 atorvastatin mg oral tablet"


@pytest.mark.parametrize("name", ["Oral herpes 1", "Herpes 2 oral", "Sodium 140 in blood"])
def test_what_has_no_strength_keeps_its_words(name):
    assert implied(Concept("1", name)) == {}


def test_an_adjective_that_repeats_a_noun_may_be_left_out():
    neuropathy = Concept("1", "Diabetes mellitus with diabetic neuropathy")
    lung = Concept("2", "Pulmonary valve atresia with pulmonary stenosis")
    assert implied(neuropathy) == {
        "diabetes mellitus neuropathy": "diabetes diabetic mellitus neuropathy"
    }
    assert implied(lung) == {}
