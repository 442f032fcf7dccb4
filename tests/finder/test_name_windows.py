"""Windows of words that stand for those of names."""

import pytest
import spacy
from finding import marked, plain

from spacy_connorm import Concept, Ontology
from spacy_connorm.text.substitutions import Substitution

NAMES = (
    "Skin abnormality",
    "Abnormality of the ear",
    "Leg edema",
    "Severe",
    "Obesity",
    "Fever",
    "Preauricular pit",
    "Auricular pit",
    "Heart disease",
    "Tooth disease",
    "Non-Hodgkin lymphoma",
    "Mandible fracture",
    "Lower jaw pain",
    "Elevated ferritin",
    "Difficulty in walking",
    "Focal lesion",
)


@pytest.fixture(scope="module")
def nlp():
    """A pipeline whose concepts have these names and ids, with four substitutions."""
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    encoder = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    settings = {"encoder": encoder}
    normalizer = nlp.add_pipe("concept_normalizer", config=settings)
    table = [
        Substitution(("edema",), ("swelling",), 9, 0),
        Substitution(("leg",), ("limb",), 2, 1),
        Substitution(("focal", "seizure"), ("partial", "seizure"), 9, 0),
        Substitution(("jaw", "lower"), ("mandible",), 9, 0),
    ]
    ontology = Ontology([Concept(name, name) for name in NAMES])
    normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology, substitutions=lambda: table)
    return nlp


@pytest.mark.parametrize(
    "pair",
    [
        "[skin lesions] > Skin abnormality",
        "[cutaneous manifestations] > Skin abnormality",
        "[malformations of the ears] > Abnormality of the ear",
        "[leg swelling] > Leg edema",
        "[lower jaw fracture] > Mandible fracture",
        "[fracture of the lower jaw] > Mandible fracture",
        "[mandible pain] > Lower jaw pain",
        "lower lip and jaw fracture > ",
        # What the ontology shows too seldom.
        "limb edema > ",
        # Nothing of the name is left.
        "swelling > ",
        "She is [obese]. > Obesity",
        "several cases, [severe] > Severe",
        "[pre-auricular pits] > Preauricular pit",
        "[pre-\nauricular pits] > Preauricular pit",
        "non-febrile; non-fever > ",
        "[increased ferritin levels] > Elevated ferritin",
        "[elevation of the ferritin concentration] > Elevated ferritin",
        "levels of ferritin; levels were elevated > ",
        "[walking difficulties] > Difficulty in walking",
        "[non-Hodgkin lymphoma] > Non-Hodgkin lymphoma",
        "Charcot-Marie-Tooth disorder > ",
        "signs of cardiac failure > ",
        "a defect in the heart > ",
    ],
)
def test_some_words_stand_for_others(nlp, pair):
    text, name = pair.split(" > ")
    assert marked(nlp, text) == text
    assert [ent.kb_id_ for ent in nlp(plain(text)).ents] == [name] * bool(name)


def test_a_compound_is_the_name_that_has_it_in_one_word(nlp):
    (ent,) = nlp("Pre-auricular pits").ents
    # By their letters, encoders may prefer "Auricular pit".
    assert ent._.matched_name == "Preauricular pit"


def test_only_certain_words_do(nlp):
    finder = nlp.get_pipe("mention_finder")
    default = finder.cfg["min_certainty"]
    finder.cfg["min_certainty"] = 1.0
    try:
        assert not nlp("leg swelling, skin lesions").ents
    finally:
        finder.cfg["min_certainty"] = default


def test_the_company_of_a_word_is_in_its_document(nlp):
    assert (
        marked(nlp, "a [partial lesion] beside a seizure") == "a [partial lesion] beside a seizure"
    )
    for texts in (["a partial lesion", "Seizure was seen"], ["a seizure", "Partial lesion"]):
        assert [ent.text for doc in nlp.pipe(texts) for ent in doc.ents] == []
