"""Each row of the cues of findings has an example, and none has a cue in vain."""

from functools import cache

import pytest
import spacy
from finding import marked

from spacy_connorm.lang import load_language

# A short form that has several meanings in most notes, by language, and one of them.
SHORT_FORMS = {
    "en": ("PE", "pulmonary embolism"),
    "es": ("IC", "insuficiencia cardíaca"),
    "pt": ("IC", "insuficiência cardíaca"),
    "fr": ("PE", "embolie pulmonaire"),
    "it": ("PE", "embolia polmonare"),
    "de": ("PE", "Lungenembolie"),
    "nl": ("PE", "longembolie"),
}
CUES = [(code, cue) for code in SHORT_FORMS for cue in load_language(code).finding_cues]


@cache
def expanding(code):
    """RETURNS (Language): A pipeline that expands a short form where a finding would stand. Tests
    do not change it.
    """
    nlp = spacy.blank(code)
    short, long = SHORT_FORMS[code]
    nlp.add_pipe("abbreviation_resolver").cfg["meanings"] = {short: [long]}
    return nlp


@pytest.mark.parametrize(("code", "cue"), CUES, ids=lambda each: str(each[:3]))
def test_a_finding_stands_where_its_example_says(code, cue):
    nlp = expanding(code)
    assert marked(nlp, cue.example, lambda doc: doc._.abbreviations) == cue.example


@pytest.mark.parametrize("cue", [cue for _, cue in CUES if not cue.pattern])
def test_an_example_has_its_cue(cue):
    assert cue.cue in cue.example.lower()


@pytest.mark.parametrize("code", SHORT_FORMS)
def test_no_cue_stands_twice(code):
    cues = [cue for of, cue in CUES if of == code]
    assert len({(cue.cue, cue.side) for cue in cues}) == len(cues)
    assert {cue.side for cue in cues} == {"before", "after"}


def test_a_language_without_a_folder_has_no_cues():
    neutral = load_language("tlh")
    assert not neutral.finding_cues and not neutral.short_forms.headings


def test_findings_are_not_found_by_the_cues_of_another_language():
    nlp = spacy.blank("sv")
    nlp.add_pipe("abbreviation_resolver").cfg["meanings"] = {"PE": ["pulmonary embolism"]}
    assert not nlp("No PE. PE likely.")._.abbreviations
