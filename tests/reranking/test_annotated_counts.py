"""How often D links to concepts, and texts to concepts."""

import pytest

from spacy_connorm.linker.held_out import known_synonyms
from spacy_connorm.reranking.annotated_counts import AnnotatedCounts


@pytest.fixture
def lookup(make_normalizer):
    d = [("cold", "C4"), ("cold", "C4"), ("cold", "C3"), ("MI", "C2")]
    return make_normalizer(synonyms=d).lookup


def counted(lookup, counts, text):
    (key,) = lookup.keys([text])
    labels = lookup.index.store.labels(counts.of_text(key))
    return {labels[number][0]: times for number, times in counts.of_text(key).items()}


def counts_of(lookup):
    return AnnotatedCounts.beside(lookup.index, lookup.overlay)


def test_texts_and_concepts_are_counted_as_d_has_them(lookup):
    counts = counts_of(lookup)
    assert counted(lookup, counts, "cold") == {"C3": 1, "C4": 2}
    assert counted(lookup, counts, "heart disease") == counted(lookup, counts, "unknown") == {}
    assert counts.of_concept(lookup.index.number("C4")) == 2
    assert counts.of_concept(lookup.index.number("C1")) == 0


def test_synonyms_added_and_removed_since_count(lookup):
    lookup.add_synonyms([("cold", "C5"), ("spinning", "C5")], count=3)
    lookup.remove_synonyms([("cold", "C4")])
    counts = counts_of(lookup)
    assert counted(lookup, counts, "cold") == {"C3": 1, "C5": 3}
    assert counted(lookup, counts, "spinning") == {"C5": 3}
    assert counts.of_concept(lookup.index.number("C5")) == 6
    assert counts.of_concept(lookup.index.number("C4")) == 0


def test_without_some_mentions(lookup):
    held_out = known_synonyms([("cold", "C4"), ("MI", "C2"), ("MI", "C2")], lookup)
    counts = counts_of(lookup).without(held_out)
    assert counted(lookup, counts, "cold") == {"C3": 1, "C4": 1}
    assert counted(lookup, counts, "MI") == {}
    assert counts.of_concept(lookup.index.number("C4")) == 1
    assert counts.of_concept(lookup.index.number("C2")) == 0
    assert counted(lookup, counts_of(lookup), "MI") == {"C2": 1}


def test_what_is_removed_is_not_subtracted_again(lookup):
    lookup.remove_synonyms([("cold", "C4")])
    held_out = known_synonyms([("cold", "C4"), ("cold", "C3"), ("new", "C3")], lookup)
    counts = counts_of(lookup).without(held_out)
    assert counts.of_concept(lookup.index.number("C4")) == 0
    assert counts.of_concept(lookup.index.number("C3")) == 0
    assert counts.by_concept.min() == 0
