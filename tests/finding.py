"""Pipelines that find the names of concepts, and texts in which brackets are around these."""

import spacy

from spacy_connorm import Ontology

NGRAMS = {
    "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
}


def make_finder(concepts, *, code="en", first=(), normalizer=None, **settings):
    """RETURNS (Language): From plain text to ids: the components to come first, a finder with
    settings, and a normalizer with settings of its own.
    """
    nlp = spacy.blank(code)
    for name in first:
        nlp.add_pipe(name)
    nlp.add_pipe("mention_finder", config=settings)
    added = nlp.add_pipe("concept_normalizer", config={**NGRAMS, **(normalizer or {})})
    added.initialize(lambda: [], nlp=nlp, ontology=Ontology(concepts))
    return nlp


def plain(text):
    """RETURNS (str): The text without its brackets."""
    return text.replace("[", "").replace("]", "")


def marked(nlp, text, read=lambda doc: doc.ents):
    """RETURNS (str): The text, without its brackets, with brackets around what is found."""
    doc = nlp(plain(text))
    found, start = "", 0
    for span in read(doc):
        found += f"{doc.text[start : span.start_char]}[{span.text}]"
        start = span.end_char
    return found + doc.text[start:]
