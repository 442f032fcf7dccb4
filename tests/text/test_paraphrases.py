"""Texts in other words, by substitutions."""

from spacy_connorm.text.paraphrases import Paraphrase, Paraphraser
from spacy_connorm.text.substitutions import Substitution

KIDNEY = Substitution(("kidney",), ("renal",), 30, 0)
DISEASE = Substitution(("disease",), ("disorder",), 7, 2)
HEART = Substitution(("attack", "heart"), ("infarction", "myocardial"), 8, 1)
DROPPED = Substitution((), ("chronic",), 9, 0)


def paraphrase(text, *substitutions, **settings):
    return sorted(each.text for each in Paraphraser(substitutions, **settings).paraphrase(text))


def test_words_are_replaced_where_they_stand():
    assert paraphrase("Disease of the Kidneys", KIDNEY) == ["disease of the renal"]
    assert paraphrase("renal failure, acute", KIDNEY) == ["kidney failure acute"]


def test_one_substitution_at_a_time():
    found = paraphrase("chronic kidney disease", KIDNEY, DISEASE)
    assert found == ["chronic kidney disorder", "chronic renal disease"]


def test_two_words_for_two_others_wherever_they_stand():
    assert paraphrase("heart attack, acute", HEART) == ["infarction myocardial acute"]
    assert paraphrase("acute attack of the heart", HEART) == ["acute infarction myocardial of the"]


def test_words_are_dropped_but_not_added():
    assert paraphrase("Chronic asthma", DROPPED) == ["asthma"]
    assert paraphrase("severe asthma", DROPPED) == []


def test_the_whole_text_is_not_replaced():
    assert paraphrase("kidneys", KIDNEY) == []
    assert paraphrase("heart attack", HEART) == []
    assert paraphrase("of the kidney", KIDNEY) == []


def test_uncertain_substitutions_are_left_out():
    assert DISEASE.certainty == 0.7
    assert paraphrase("kidney disease", DISEASE, min_certainty=0.7) == ["kidney disorder"]
    assert paraphrase("kidney disease", DISEASE, min_certainty=0.71) == []


def test_certainty():
    (found,) = Paraphraser([DISEASE]).paraphrase("kidney disease")
    assert found == Paraphrase("kidney disorder", 0.7)


def test_texts_without_words():
    assert paraphrase("", KIDNEY) == []
    assert paraphrase("-", KIDNEY, DROPPED) == []
