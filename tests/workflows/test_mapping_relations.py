"""Words say how a term and a concept are related."""

import pytest

from spacy_connorm.text.words import words_of
from spacy_connorm.workflows.mapping_relations import (
    BROAD,
    CLOSE,
    EXACT,
    LEXICAL,
    MEANING,
    NARROW,
    SPELLING,
    find_relation,
)


@pytest.mark.parametrize(
    ("term", "name", "predicate"),
    [
        ("Heart attacks", "attack of the heart", EXACT),
        ("recurrent pterygium of left eye", "Pterygium", BROAD),
        ("hypertension", "essential hypertension", NARROW),
        ("head spinning", "dizziness", CLOSE),
        ("conjunctivitis, except viral", "viral conjunctivitis", CLOSE),
        ("+", "+", EXACT),
        ("+", "-", CLOSE),
    ],
)
def test_words_tell_exact_close_broad_and_narrow_relations(term, name, predicate):
    relation = find_relation(term, name, words_of("en"), is_exact=True, by_spelling=False)
    assert relation.predicate == predicate
    shared = predicate == EXACT
    assert relation.justification == (LEXICAL if shared else MEANING)
    assert relation.match_string == (name if shared else "")


def test_a_synonym_that_is_not_exact_claims_less():
    for term in ("cold", "bad cold", "c"):
        found = find_relation(term, "cold", words_of("en"), is_exact=False, by_spelling=True)
        assert found.predicate == CLOSE
        assert found.justification == (LEXICAL if term == "cold" else SPELLING)
