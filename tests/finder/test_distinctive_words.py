"""Words that only the names of one concept have."""

import pytest
from finding import body_findings, make_finder, marked

from spacy_connorm import Concept

NAMES = (
    "Neonatal pneumothorax",
    "HELLP syndrome",
    "Placenta accreta",
    "Leukoplakia of oral mucosa",
    "Leukoplakia of vulva",
    "Oral thrush",
    "Lichenoid tongue",
    "Lichenoid",
)
CONCEPTS = [*body_findings(), *(Concept(name, name) for name in NAMES)]


@pytest.fixture(scope="module")
def nlp():
    return make_finder(CONCEPTS, min_paraphrase=0.5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Chest abscess, no [pneumothorax].", "Neonatal pneumothorax"),
        ("Chest abscess, ?[HELLP].", "HELLP syndrome"),
        ("Chest abscess, ?[accreta].", "Placenta accreta"),
        # The name's other word is near.
        ("Chest abscess. Oral exam: [thrush].", "Oral thrush"),
    ],
)
def test_a_word_of_one_concept_means_it(nlp, text, name):
    doc = nlp(text.replace("[", "").replace("]", ""))
    found = {ent.text: ent.kb_id_ for ent in doc.ents}
    assert found[text.partition("[")[2].partition("]")[0]] == name


@pytest.mark.parametrize(
    "text",
    [
        # Two concepts have it.
        "[Chest abscess] and leukoplakia.",
        "[Chest abscess] in the morning.",
        # A name of its own; another concept has it, too.
        "[Chest abscess], [lichenoid].",
        # The text is about something else.
        "The tongue of a bell.",
        # No name has it, and what is short says little.
        "[Chest abscess] and scarlatina.",
    ],
)
def test_others_do_not(nlp, text):
    assert marked(nlp, text.replace("[", "").replace("]", "")) == text


def test_words_of_removed_synonyms_mean_nothing_and_those_of_added_ones_do():
    nlp = make_finder(CONCEPTS, min_paraphrase=0.5)
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("Erythroplakia buccalis", "Oral thrush")])
    assert marked(nlp, "Chest abscess and erythroplakia.") == "[Chest abscess] and [erythroplakia]."
    normalizer.remove_synonyms([("Erythroplakia buccalis", "Oral thrush")])
    assert marked(nlp, "Chest abscess and erythroplakia.") == "[Chest abscess] and erythroplakia."


def test_a_short_form_of_several_words_that_one_concept_has_together():
    names = ("Urinary tract infection in pregnancy", "Tract of land", "Right heel burn today")
    nlp = make_finder([*CONCEPTS, *(Concept(name, name) for name in names)], min_paraphrase=0.5)
    short_forms = {"UTI": "urinary tract infection", "RHS": "right hand side", "R": "right"}
    config = {"short_forms": short_forms}
    nlp.add_pipe("abbreviation_resolver", config=config, first=True)
    doc = nlp("Chest abscess. R UTI on RHS.")
    assert {ent.text: ent.kb_id_ for ent in doc.ents} == {
        "Chest abscess": "chest abscess",
        "UTI": "Urinary tract infection in pregnancy",
    }


@pytest.mark.parametrize("stopped", ["accreta", "placenta accreta"])
def test_stop_texts_mean_nothing(stopped):
    nlp = make_finder(CONCEPTS, stop_texts=[stopped], min_paraphrase=0.5)
    assert marked(nlp, "Chest abscess, accreta.") == "[Chest abscess], accreta."


def test_what_a_rule_refused_is_not_a_mention():
    names = [*CONCEPTS, Concept("Fever", "Fever"), Concept("Q", "Haemorrhagic yellow quartana")]
    nlp = make_finder(names, min_paraphrase=0.5)
    assert marked(nlp, "Chest abscess. Seen by Dr. Fever.") == "[Chest abscess]. Seen by Dr. Fever."
