"""Pipelines that find the names of concepts, and texts in which brackets are around these."""

from functools import cache
from itertools import product

import spacy
from spacy.util import get_lang_class

from spacy_connorm import Concept, Ontology

NGRAMS = {
    "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
}


@cache
def _tokenizer(code):
    return spacy.blank(code).tokenizer


def blank(code="en"):
    """RETURNS (Language): As `spacy.blank` makes it, but with the same tokenizer and vocabulary for
    all tests of a process, since most of its time goes into these. Not for tests that change a
    tokenizer or look for strings.
    """
    tokenizer = _tokenizer(code)
    return get_lang_class(code)(tokenizer.vocab, create_tokenizer=lambda nlp: tokenizer)


def make_finder(concepts, *, code="en", first=(), normalizer=None, **settings):
    """RETURNS (Language): From plain text to ids: the components to come first, a finder with
    settings, without paraphrases if these do not ask for them, and a normalizer with settings of
    its own.
    """
    nlp = blank(code)
    for name in first:
        nlp.add_pipe(name)
    nlp.add_pipe("mention_finder", config={"min_paraphrase": 1.0, **settings})
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


def body_findings():
    """Enough concepts for a text that means none of them to be far from all names."""
    parts = "chest chin elbow heel hip jaw neck pelvis shin shoulder skull thigh thumb toe wrist"
    findings = (
        "abscess burn cyst fracture infection laceration lump numbness oedema spasm sprain "
        "stiffness tumour weakness"
    )
    pairs = product(parts.split(), findings.split())
    names = [f"{part} {finding}" for part, finding in pairs]
    return [Concept(name, name) for name in names]
