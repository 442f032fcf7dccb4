import random

import pytest
import spacy

from spacy_connorm.errors import ConnormError
from spacy_connorm.server import RequestLimits
from spacy_connorm.server.affix_work import affix_work


@pytest.fixture(scope="module")
def tokenizer():
    return spacy.blank("en").tokenizer


DNA = "".join(random.Random(0).choices("ACGT", k=90_000))


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("", 0),
        ("( a ) " * 1000, 0),
        ("(" * 10, 0),
        ("(" * 100, 90 * 100),
        ("\u2019S" * 50, 40 * 100),
        ("A$" * 50, 40 * 100),
        ("((((((((((((a)))", 5 * 16),
        ("(" * 20 + " " + "(" * 20, 2 * 10 * 20),
        ("$$$$$$$$$$$a(((((((((((((((((((b", 1 * 32),
    ],
)
def test_affixes_of_words_count_times_their_length(tokenizer, text, work):
    assert affix_work(text, tokenizer, limit=10**6) == work


def test_counting_stops_at_the_limit(tokenizer):
    assert 1000 < affix_work("(" * 100_000, tokenizer, limit=1000) < 1_200_000


def test_of_another_tokenizer_nothing_is_known():
    assert affix_work("(" * 100, str.split, limit=1000) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"({DNA}).",
        "aGVsbG8+/x" * 9_000 + "==",
        "https://example.org/" + "a/b-c_d?e=f&" * 2_000,
        ("=" * 80 + "\n" + "word, (word). " * 5 + "\n") * 200,
        "\n".join(f"Chapter {'.' * length} {length}" for length in range(20, 100)),
        "\u5fc3\u808c\u6897\u585e\u3002" * 5_000,
    ],
)
def test_ordinary_texts_are_tokenized(tokenizer, text):
    RequestLimits().require_tokenizable([text] * 100, tokenizer)


@pytest.mark.parametrize("text", ["(" * 2_100, ("(" * 1_000 + " ") * 5, "A$" * 2_100, "'s" * 2_100])
def test_a_text_that_holds_up_the_tokenizer_is_refused(tokenizer, text):
    with pytest.raises(ConnormError, match="CN749"):
        RequestLimits().require_tokenizable(["short", text], tokenizer)
