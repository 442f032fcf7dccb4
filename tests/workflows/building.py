"""Pipelines that find the names of a small ontology."""

import spacy

from spacy_connorm import build_index

COMPONENT = "components.concept_normalizer"
NGRAMS = {f"{COMPONENT}.encoder.@architectures": "spacy-connorm.NgramEncoder.v1"}
CONFIG = """
[paths]
encoder = "spacy-connorm.NgramEncoder.v1"

[nlp]
lang = "de"
pipeline = ["ner", "concept_normalizer"]

[components]

[components.ner]
factory = "ner"

[components.concept_normalizer]
factory = "concept_normalizer"
top_k = 3

[components.concept_normalizer.encoder]
@architectures = ${paths.encoder}

[components.concept_normalizer.index]
@misc = "spacy-connorm.ExactIndex.v1"
"""


def build_finder(ontology, folder, **options):
    options = {"find_mentions": True, "overrides": NGRAMS, **options}
    return build_index(ontology, folder / "out", **options)


def found_in(text, built):
    return [(ent.text, ent.kb_id_) for ent in spacy.load(built.path)(text).ents]
