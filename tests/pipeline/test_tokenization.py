"""Words that notes write without a space between them."""

import re

import pytest
import spacy

from spacy_connorm.pipeline.tokenization import separate_joined_words


@pytest.fixture(scope="module")
def nlp():
    """A blank pipeline whose tokenizer takes words apart."""
    nlp = spacy.blank("en")
    separate_joined_words(nlp)
    return nlp


@pytest.mark.parametrize(
    "words",
    [
        "2.|Chest pain",
        "3)|CKD",
        "HTN|/|COPD",
        "-|fever +|chills",
        "•|rash",
        "↑|ESR",
        "CD4|+|T cells",
        "pain|;|fever",
        "edema|(|hand|)",
        "no SOB|.|Denies HA",
        "(|-|)|fever",
        "swelling|++|, plaque|+ (|pain|+++|)",
        "HLA|-|B|*|57:01",
        "hepatitis C|. No N|/|V|.",
        "type 1B|.",
        "type 1|;|Gout",
        "low IgM|. HbA|.",
        "HIV|+ since",
    ],
)
def test_words_are_taken_apart(nlp, words):
    """A bar stands where a word ends without a space behind it."""
    doc = nlp(words.replace("|", ""))
    assert [token.text for token in doc] == re.split(r"[| ]", words)
    assert doc.text == words.replace("|", "")


@pytest.mark.parametrize(
    "text", ["Ca(2+) Ca2+ Ca++ CD4+ 5-HT", "1.5 mg, -2.5", "e.g. T-cell", "3/10", "s/p", "U.S."]
)
def test_other_texts_stay_as_they_are(nlp, text):
    assert [token.text for token in nlp(text)] == [token.text for token in spacy.blank("en")(text)]


def test_bars_are_tokens(nlp):
    assert [token.text for token in nlp("HTN|COPD|Gout")] == ["HTN", "|", "COPD", "|", "Gout"]


def test_other_tokenizers_are_left_alone():
    nlp = spacy.blank("zh")
    tokenizer = nlp.tokenizer
    separate_joined_words(nlp)
    assert nlp.tokenizer is tokenizer


def test_it_is_saved_with_a_pipeline(nlp, tmp_path):
    nlp.to_disk(tmp_path / "nlp")
    assert [token.text for token in spacy.load(tmp_path / "nlp")("1.Fever")] == ["1.", "Fever"]
