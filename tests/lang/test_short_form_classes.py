"""Each row of the cues of findings has an example, and none has a cue in vain."""

from functools import cache

import pytest
import spacy
from finding import marked

from spacy_connorm.lang import load_language

CODES = ("de", "en", "nl")
CUES = [(code, cue) for code in CODES for cue in load_language(code).finding_cues]


@cache
def pipeline(code):
    """A pipeline that expands "PE" where a finding would stand. Tests do not change it."""
    nlp = spacy.blank(code)
    resolver = nlp.add_pipe("abbreviation_resolver")
    resolver.cfg["meanings"] = {"PE": ["pulmonary embolism"]}
    return nlp


@pytest.mark.parametrize(
    ("code", "cue"), [pytest.param(*row, id=f"{row[0]} {row[1].side} {row[1].cue}") for row in CUES]
)
def test_a_finding_stands_where_its_example_says(code, cue):
    assert marked(pipeline(code), cue.example, lambda doc: doc._.abbreviations) == cue.example


@pytest.mark.parametrize(
    "cue", [cue for _, cue in CUES if not cue.pattern], ids=lambda cue: cue.cue
)
def test_an_example_has_its_cue(cue):
    assert cue.cue in cue.example.lower()


def test_no_cue_stands_twice():
    assert len({(code, cue.cue, cue.side) for code, cue in CUES}) == len(CUES)
    assert {cue.side for _, cue in CUES} == {"before", "after"}


def test_a_language_without_a_folder_has_no_cues():
    neutral = load_language("tlh")
    assert not neutral.finding_cues and not neutral.short_forms.headings


def test_findings_are_not_found_by_the_cues_of_another_language():
    nlp = spacy.blank("sv")
    nlp.add_pipe("abbreviation_resolver").cfg["meanings"] = {"PE": ["pulmonary embolism"]}
    assert not nlp("No PE. PE likely.")._.abbreviations
