"""A pipeline that marks a few findings, and what it says of them."""

import functools
import re

from finding import blank

from spacy_connorm.documents.spans import get_assertions

FINDINGS = (
    *("fever", "asthma", "cough", "stroke", "fits"),
    *("fièvre", "asthme", "toux", "avc", "crises"),
    *("fiebre", "asma", "tos", "ictus", "crisis"),
    *("fieber", "husten", "schlaganfall", "krämpfe"),
    *("koorts", "astma", "hoest", "beroerte", "insulten"),
    *("febre", "tosse"),
    *("febbre", "crisi"),
)
NAMES = {"negated": "no", "family": "kin", "history": "past", "possible": "?"}
STATES = ("anxious", "dizzy", "confused", "smoker", "smoking")


def make_pipeline(code="en", **settings):
    nlp = blank(code)
    ruler = nlp.add_pipe("entity_ruler")
    patterns = [[{"LOWER": each}] for each in (*FINDINGS, *STATES)]
    ruler.add_patterns([{"label": "FINDING", "pattern": pattern} for pattern in patterns])
    nlp.add_pipe("assertion_marker", config=settings)
    return nlp


def read(doc):
    return {ent.text.lower(): get_assertions(ent) for ent in doc.ents}


@functools.cache
def default_pipeline(code="en"):
    """RETURNS (Language): Such a pipeline without settings. Tests do not change it."""
    return make_pipeline(code)


def marked(text, code="en"):
    """RETURNS (str): The text, without its braces, with what is said of findings in braces."""
    doc = default_pipeline(code)(re.sub(r"\{.*?\}", "", text))
    found, start = "", 0
    for ent in doc.ents:
        told = " ".join(NAMES[assertion] for assertion in get_assertions(ent))
        found += doc.text[start : ent.end_char] + (told and f"{{{told}}}")
        start = ent.end_char
    return found + doc.text[start:]
