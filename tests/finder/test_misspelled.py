"""Misspelled words of texts."""

import pytest
import spacy
from finding import marked, plain

from spacy_connorm import Concept, Ontology

NAMES = ("Hypertension", "Pneumonia", "Plantar fasciitis", "Micrognathia", "Dermoid cyst")
NAMES += ("Hemiplegia", "Hemiplegic migraine", "Diarrhea", "Splenomegaly", "Night blindness")
NAMES += ("Jaundice", "Pleuritis", "Breast cancer", "Cancer", "Alzheimer disease", "Alzheimer")
NAMES += ("Nosebleed", "Offspring")


@pytest.fixture(scope="module")
def nlp():
    """A pipeline whose concepts have these names and ids."""
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    encoder = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    normalizer = nlp.add_pipe("concept_normalizer", config={"encoder": encoder})
    ontology = Ontology([Concept(name, name) for name in NAMES])
    normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
    return nlp


@pytest.mark.parametrize(
    "pair",
    [
        "treated for [hypertention] > Hypertension",  # another letter
        "[Pnemonia] on the right. > Pneumonia",  # one that is missing
        "[plantar fascitis] > Plantar fasciitis",
        "[diarrrhea] for days > Diarrhea",  # one too many
        "[pnuemonia] > Pneumonia",  # two in the wrong order
        "[splenomegally] > Splenomegaly",  # what looks like an adverb
        "has [nightblindness] > Night blindness",  # two words as one
        "blindnessnight > ",
        "[nose bleeds] > Nosebleed",  # a word as two
        "no [hyper tension] > Hypertension",
        "hyper, tension > ",
        "off spring > ",  # one of them is a word of grammar
        "had [jaundise] > Jaundice",  # another consonant with the same sound
        "pleuritic > ",  # but not at the end
        "[breast cacner] > Breast cancer",  # a short word beside another one of the name
        "cacner > ",
        "early [Alzhiemer's disease] > Alzheimer disease",  # a name, likewise
        "seen by Alzhiemer > ",
        f"{'night' * 12}blindness > ",  # no word of a name is so long
        "seen by Dr Pnemonia > ",  # a name
        "macrognathia > ",  # the opposite
        "a desmoid cyst > ",  # another letter in a short word
        "hemiplegie > ",  # two words are one letter away
        "hypotension > ",  # a word of its own
        "hypretensoin; ypertension > ",  # two mistakes, or one in the first letter
    ],
)
def test_a_mistake_makes_an_unknown_word_one_of_names(nlp, pair):
    text, name = pair.split(" > ")
    assert marked(nlp, text) == text
    assert [ent.kb_id_ for ent in nlp(plain(text)).ents] == [name] * bool(name)


def test_words_of_other_languages_are_not_corrected():
    nlp = spacy.blank("xx")
    nlp.add_pipe("mention_finder")
    encoder = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    normalizer = nlp.add_pipe("concept_normalizer", config={"encoder": encoder})
    ontology = Ontology([Concept("A", "hypertension")])
    normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
    assert [ent.text for ent in nlp("hypertension, hypertention").ents] == ["hypertension"]
