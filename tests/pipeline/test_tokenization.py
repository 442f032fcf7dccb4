"""Words that notes write without a space between them."""

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
    ("text", "words"),
    [
        ("2.Chest pain", "2.|Chest|pain"),
        ("3)CKD", "3)|CKD"),
        ("HTN/COPD", "HTN|/|COPD"),
        ("-fever +chills", "-|fever|+|chills"),
        ("•rash", "•|rash"),
        ("↑ESR", "↑|ESR"),
        ("CD4+T cells", "CD4|+|T|cells"),
        ("pain;fever", "pain|;|fever"),
        ("edema(hand)", "edema|(|hand|)"),
        ("no SOB.Denies HA", "no|SOB|.|Denies|HA"),
        ("(-)fever", "(|-|)|fever"),
        ("hepatitis C. No N/V.", "hepatitis|C|.|No|N|/|V|."),
        ("type 1B.", "type|1B|."),
        ("type 1;Gout", "type|1|;|Gout"),
        ("low IgM. HbA.", "low|IgM|.|HbA|."),
        ("swelling++, plaque+ (pain+++)", "swelling|++|,|plaque|+|(|pain|+++|)"),
        ("HLA-B*57:01", "HLA|-|B|*|57:01"),
    ],
)
def test_words_are_taken_apart(nlp, text, words):
    doc = nlp(text)
    assert "|".join(token.text for token in doc) == words
    assert doc.text == text


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
