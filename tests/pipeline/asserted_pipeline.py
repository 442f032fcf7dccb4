"""A pipeline that marks a few findings, and what it says of them."""

import spacy

from spacy_connorm.documents.spans import get_assertions

FINDINGS = ("fever", "asthma", "cough", "stroke", "fits")
STATES = ("anxious", "dizzy", "confused", "smoker")


def make_pipeline(**settings):
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    patterns = [[{"LOWER": each}] for each in (*FINDINGS, *STATES)]
    ruler.add_patterns([{"label": "FINDING", "pattern": each} for each in patterns])
    nlp.add_pipe("assertion_marker", config=settings)
    return nlp


def read(doc):
    return {ent.text.lower(): get_assertions(ent) for ent in doc.ents}
