"""A term is searched as one concept, with the text around it."""

from unittest.mock import patch

import pytest

from spacy_connorm.documents.abbreviations import find_long_forms
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import term_candidates
from spacy_connorm.workflows.term_candidates import find_candidates
from spacy_connorm.workflows.terms import LocalTerm


def found(nlp, *terms, **limits):
    normalizer = nlp.get_pipe("concept_normalizer")
    with patch("spacy_connorm.workflows.term_candidates._AT_ONCE", 2):
        return list(find_candidates(nlp, normalizer, terms, **limits))


def test_answers_are_those_of_the_pipeline(pipeline):
    terms = ["heart attack", "", "aspirin", "cold"]
    normalizer = pipeline.get_pipe("concept_normalizer")
    answers = found(pipeline, *(LocalTerm("1", term) for term in terms))
    assert answers == normalizer.candidates(terms)
    (limited,) = found(pipeline, LocalTerm("1", "cold"), top_k=1, types=["Phenomenon"])
    assert [each.concept_id for each in limited] == ["C4"]


def test_a_term_is_one_concept(make_pipeline):
    nlp = make_pipeline(split_composites=True)
    term = "heart attack and common cold"
    assert {each.part for each in nlp.get_pipe("concept_normalizer").candidates([term])[0]} == {
        1,
        2,
    }
    (answer,) = found(nlp, LocalTerm("1", term))
    assert {each.part for each in answer} == {0}


def test_the_text_around_a_term_tells_what_it_stands_for(make_pipeline):
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer")
    context = "Had a common cold (CC). Seen for cc."
    terms = [
        LocalTerm("1", "CC"),
        LocalTerm("2", "CC", context),
        LocalTerm("3", "aspirin", context),
    ]
    without, within, beside = found(nlp, *terms)
    assert within[0].concept_id == "C3" and within[0].searched == "common cold"
    assert not without or without[0].searched == "CC"
    assert beside[0].concept_id == "C6"


@pytest.mark.parametrize(
    "context", ["Common cold (CC). CC, accused", "Common cold (CC). CCs, ACC."]
)
def test_a_term_is_not_found_inside_another_word(make_pipeline, monkeypatch, context):
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer")
    asked = []

    def record(doc, spans):
        asked.append(spans[0].text)
        return find_long_forms(doc, spans)

    monkeypatch.setattr(term_candidates, "find_long_forms", record)
    (answer,) = found(nlp, LocalTerm("1", "cc", context))
    assert asked == ["CC"] and answer[0].searched == "Common cold"


def test_a_term_that_is_only_inside_another_word_is_put_after_the_text(pipeline, monkeypatch):
    asked = []

    def record(doc, spans):
        asked.append(doc.text)
        return find_long_forms(doc, spans)

    monkeypatch.setattr(term_candidates, "find_long_forms", record)
    found(pipeline, LocalTerm("1", "cold", "He scolded and was cold-blooded"))
    found(pipeline, LocalTerm("1", "cold", "He scolded."))
    assert asked == ["He scolded and was cold-blooded", "He scolded.\ncold"]


def test_an_odd_context_leaves_the_answer_as_it_is(pipeline, odd_text):
    from spacy_connorm.text.cleaning import clean

    (answer,) = found(pipeline, LocalTerm("1", "aspirin", clean(odd_text)))
    assert answer[0].concept_id == "C6"


def test_a_context_that_is_too_long(pipeline):
    pipeline.max_length = 20
    with pytest.raises(ConnormError, match="CN709"):
        found(pipeline, LocalTerm("1", "aspirin", "a" * 20))
