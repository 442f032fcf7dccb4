import random

import pytest

from spacy_connorm.server import RequestLimits
from spacy_connorm.server.affixes import affix_work

DNA = "".join(random.Random(0).choices("ACGT", k=90_000))


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("", 0),
        ("( a ) " * 1000, 0),
        ("(" * 10, 0),
        ("(" * 100, 90 * 100),
        ("\u2019S" * 50, 90 * 100),
        ("((((((((((((a)))", 5 * 16),
        ("-" * 20 + " " + "-" * 20, 10 * 20),
        ("_" * 20 + "\n" + "-" * 20, 2 * 10 * 20),
        ("$$$$$$$$$$$a(((((((((((((((((((b", 1 * 32),
    ],
)
def test_punctuation_at_the_ends_of_words_counts_times_their_length(text, work):
    assert affix_work([text, text]) == work


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
def test_ordinary_texts_are_tokenized(text):
    RequestLimits().require_tokenizable([text] * 100)
