"""Genera of organisms by their initials."""

import pytest
import spacy
from finding import marked

from .name_pipeline import build

NAMES = (
    "Clostridium difficile colitis",
    "Streptococcus pneumoniae infection",
    "Staphylococcus aureus infection",
    "Salmonella aureus carrier",
    "Escherichia coli infection",
    "colitis",
    "Miliary tuberculosis",
    "tuberculosis",
    "Chronic cough",
    "cough",
    "Central pallid spot",
    "Plasmodium vivax",
)


@pytest.mark.parametrize(
    "text",
    [
        "a [C. difficile colitis] after antibiotics",
        "[E.coli infection] and [S. pneumoniae infections]",
        "[P.vivax] was seen",  # one token
        "D. difficile [colitis]",
        "C. Difficile [colitis]",
        "S. aureus infection",  # of two genera
        "Given vitamin C. Then [colitis]",
        "M. [tuberculosis]",  # "miliary" is an adjective
        "C. [cough]",  # an item of a list
        "C. pallid spot",
    ],
)
def test_an_initial_stands_for_the_only_genus_of_a_species(text):
    assert marked(build(list(NAMES)), text) == text


def test_a_tokenizer_may_split_the_period_off():
    nlp = build(["Clostridium difficile colitis"])
    nlp.tokenizer = spacy.blank("en", vocab=nlp.vocab).tokenizer
    nlp.tokenizer.suffix_search = None
    nlp.tokenizer.rules = {}
    assert marked(nlp, "[C. difficile colitis]") == "[C. difficile colitis]"
