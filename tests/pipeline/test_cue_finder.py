import pytest
import spacy

from spacy_connorm.lang import Cue, load_language
from spacy_connorm.pipeline.cue_finder import CueFinder, StatementPlace


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def make_finder(nlp, *texts, **fields):
    cue = Cue("", "negated", "forward", "statement")._replace(**fields)
    cues = [cue._replace(text=text) for text in texts]
    return CueFinder(cues, load_language("en"), nlp.make_doc)


@pytest.mark.parametrize(
    "cue, text, expected",
    [
        ("been excluded", "has been now safely excluded", ["been now safely excluded"]),
        ("been excluded", "has been there excluded", []),
        ("(no|no more) pain", "no pain, no more pain", ["no pain", "no more pain"]),
        # A sign is not part of a phrase with adverbs.
        (r"\(\)", "(unlikely)", []),
    ],
)
def test_adverbs_may_stand_in_a_phrase(nlp, cue, text, expected):
    doc = nlp(text)
    places = make_finder(nlp, cue).find_phrases([token.lower_ for token in doc])
    assert [doc[start:end].text for start, end, _ in places] == expected


def test_patterns_are_searched_in_statements_and_after_mentions(nlp):
    doc = nlp("Fever for 3 days. Cough for 4 days")
    finder = make_finder(nlp, "for {number} days")
    found = finder.find_patterns(doc, doc.text, [StatementPlace(18, 34, ())])
    assert [doc[start:end].text for start, end, _ in found] == ["for 4 days"]
    beside = make_finder(nlp, "{gap}for {number}", direction="backward", scope="adjacent")
    found = beside.find_patterns(
        doc, doc.text, [StatementPlace(0, 18, (5,)), StatementPlace(18, 34, (22,))]
    )
    assert [doc[start:end].text for start, end, _ in found] == ["for 3"]


def test_a_section_ends_before_the_next_heading(nlp):
    finder = make_finder(nlp, "pmh", category="history")
    text = "PMH:\n- asthma\n- fits\nExam: cough"
    ((first, last),) = finder.find_sections(text, "history")
    assert text[first : last + 1] == "PMH:\n- asthma\n- fits\n"


def test_capitals_without_a_small_letter_of_one_character_are_kept(nlp):
    doc = nlp("İİ Cough FOR 4 days")
    found = make_finder(nlp, "for {number}").find_patterns(
        doc, doc.text, [StatementPlace(0, 19, ())]
    )
    assert [doc[start:end].text for start, end, _ in found] == ["FOR 4"]
