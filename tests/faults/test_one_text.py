"""No text of a client holds up the server: it is refused at once, or read in little time."""

import re
from itertools import product
from time import process_time

import pytest
import spacy

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.tokenization import speed_up_urls
from spacy_connorm.server import RequestLimits

from .regex_steps import RegexSteps

LONGEST = RequestLimits().text
SECONDS = 5.0
URLS = (
    "http://",
    "a:b@",
    "x@",
    "ftp://a.b",
    "a.",
    "1.",
    "10.0.",
    "a-_",
    ":/?#",
    "//",
    "mailto:a@b.c:1",
)
# As long as they may be, again and again.
RUNS = ("(" * 990 + " ", "A$" * 400 + " ", "(" * 10 + " ")
ATOMS = "aA1é.-_/:@'s()$%&\u2026"


@pytest.fixture(scope="module")
def tokenizers():
    found = {}
    for lang in ("en", "xx"):
        nlp = spacy.blank(lang)
        before = nlp.tokenizer.url_match
        speed_up_urls(nlp)
        found[lang] = nlp, before, nlp.tokenizer.url_match
        assert before.__self__.pattern != nlp.tokenizer.url_match.__self__.pattern
    return found


@pytest.mark.parametrize("atom", URLS)
def test_twice_the_url_takes_twice_the_steps(tokenizers, atom):
    pattern = tokenizers["en"][2].__self__

    def steps(times):
        counted = RegexSteps(re.compile(pattern.pattern, pattern.flags), atom * times)
        counted.match()
        return counted.steps

    assert steps(200) <= 2.5 * steps(100) + 3000


def test_the_same_urls_are_found(tokenizers):
    texts = ["".join(parts) for size in (1, 2, 3) for parts in product(URLS, repeat=size)]
    for _, before, now in tokenizers.values():
        for text in [*texts, *(f"{text}example.org/x?y=z" for text in texts)]:
            assert bool(before(text)) == bool(now(text)), text


@pytest.mark.long  # it measures time
@pytest.mark.parametrize("word", [*URLS, *map("".join, product(ATOMS, repeat=2)), *RUNS])
@pytest.mark.parametrize("lang", ["en", "xx"])
def test_a_text_of_one_word_is_refused_or_read(tokenizers, lang, word):
    nlp, *_ = tokenizers[lang]
    text = (word * LONGEST)[:LONGEST]
    began = process_time()
    try:
        RequestLimits().require_texts([text], nlp.tokenizer)
    except ConnormError as error:
        assert error.code == "CN749"
    else:
        with nlp.memory_zone():  # where no word is cached
            nlp.make_doc(text)
    assert process_time() - began < SECONDS
