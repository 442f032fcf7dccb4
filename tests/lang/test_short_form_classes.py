"""Each row of the cues of findings has an example, and none has a cue in vain."""

import pytest
import spacy
from finding import marked

from spacy_connorm.lang import load_language

CUES = load_language("en").finding_cues


@pytest.fixture(scope="module")
def nlp():
    """A pipeline that expands "PE" where a finding would stand. Tests do not change it."""
    nlp = spacy.blank("en")
    resolver = nlp.add_pipe("abbreviation_resolver")
    resolver.cfg["meanings"] = {"PE": ["pulmonary embolism"]}
    return nlp


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: f"{cue.side} {cue.cue}")
def test_a_finding_stands_where_its_example_says(nlp, cue):
    assert marked(nlp, cue.example, lambda doc: doc._.abbreviations) == cue.example


@pytest.mark.parametrize("cue", [cue for cue in CUES if not cue.pattern], ids=lambda cue: cue.cue)
def test_an_example_has_its_cue(cue):
    assert cue.cue in cue.example.lower()


def test_no_cue_stands_twice():
    assert len({(cue.cue, cue.side) for cue in CUES}) == len(CUES)
    assert {cue.side for cue in CUES} == {"before", "after"}


def test_a_language_without_a_folder_has_no_cues():
    neutral = load_language("tlh")
    assert not neutral.finding_cues and not neutral.short_forms.headings


def test_findings_are_not_found_by_the_cues_of_another_language():
    nlp = spacy.blank("sv")
    nlp.add_pipe("abbreviation_resolver").cfg["meanings"] = {"PE": ["pulmonary embolism"]}
    assert not nlp("No PE. PE likely.")._.abbreviations
