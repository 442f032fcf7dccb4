"""Synonyms may change while other threads ask: a question sees all of a change or none of it."""

import sys
import threading

import pytest

from spacy_connorm.index.backends.exact import ExactSearcher

PLAIN = {"cache_size": 0}
FIRST = [("sea legs", "C6"), ("head spinning", "C5")]
CHANGE = [("vertigo", "C1"), ("dizzy spell", "C6"), ("a cold sea", "C4")]
ASKED = ["head spinning", "vertigo", "dizzy spell", "sea legs", "cold", "heart attacks"]
CHANGES = 60


@pytest.fixture(params=["ngrams", "hybrid", "means"])
def config(request, hashes, hybrid):
    means = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["D-C", "OD-C"], "thresholds": [0.9]}
    return {"ngrams": {}, "hybrid": hybrid, "means": {**hashes, "sieve": means}}[request.param]


@pytest.fixture
def switch_often():
    """Threads take turns more often than once a millisecond."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_a_question_that_has_begun_sees_no_change(make_normalizer, monkeypatch, in_thread):
    normalizer = make_normalizer(**PLAIN)
    normalizer.add_synonyms(FIRST)
    before = normalizer.candidates(["head spinning"])
    assert (before[0][0].concept_id, before[0][0].score) == ("C5", 1.0)

    searching, changed = threading.Event(), threading.Event()
    nearest = ExactSearcher.nearest

    def slow(*args, **kwargs):
        found = nearest(*args, **kwargs)
        searching.set()
        assert changed.wait(timeout=60)
        return found

    monkeypatch.setattr(ExactSearcher, "nearest", slow)
    found = []
    asking = in_thread(lambda: found.append(normalizer.candidates(["head spinning"])))
    assert searching.wait(timeout=60)
    # The place of "head spinning" among the added texts is another one now.
    normalizer.remove_synonyms(FIRST[:1])
    normalizer.add_synonyms(CHANGE)
    changed.set()
    asking.join(timeout=60)
    assert found == [before]


@pytest.mark.parametrize("sizes", [{}, PLAIN], ids=["cache", "no cache"])
def test_answers_are_those_before_or_after_a_change(
    make_normalizer, config, sizes, in_thread, switch_often
):
    normalizer = make_normalizer(**config, **sizes)
    normalizer.add_synonyms(FIRST)
    allowed = [normalizer.candidates(ASKED)]
    normalizer.add_synonyms(CHANGE)
    allowed.append(normalizer.candidates(ASKED))
    assert allowed[0] != allowed[1]

    done, wrong, count = threading.Event(), [], []

    def ask():
        while not done.is_set():
            try:
                found = normalizer.candidates(ASKED)
            except Exception as error:
                found = error
            count.append(1)
            if found not in allowed:
                wrong.append(found)

    for _ in range(3):
        in_thread(ask)
    try:
        for _ in range(CHANGES):
            normalizer.remove_synonyms(CHANGE)
            normalizer.add_synonyms(CHANGE)
    finally:
        done.set()
    assert not wrong, wrong[0]
    assert len(count) > 1
