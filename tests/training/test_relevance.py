"""Which names are synonyms and which hypernyms."""

import pytest

from spacy_connorm import Concept
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.training.pool import build_pool
from spacy_connorm.training.relevance import Hierarchy, Relevance

CONCEPTS = (
    Concept("C1", "disease", ("disorder",)),
    Concept("C2", "lymphoma", ("cancer of lymph",), parents=("C1",)),
    Concept("C3", "blood disease", parents=("C1",), alt_ids=("OLD3",)),
    Concept("C4", "B-cell lymphoma", ("lymphoma, B-cell",), parents=("C2", "OLD3", "C99")),
)


def mention(text, kb_id):
    return Mention(text, "Disease", kb_id, ((0, len(text)),))


@pytest.fixture
def make(inputs):
    """A function that gathers concepts and mentions."""

    def make(*mentions, concepts=CONCEPTS):
        return build_pool(concepts, mentions, inputs=inputs, use_ontology=True, data_share=None)[0]

    return make


def relevances(pool, text):
    found = Hierarchy(pool).relevances(pool.texts.index(text), pool.names.tolist())
    return {pool.texts[row]: each for row, each in zip(pool.names, found, strict=True)}


def hypernyms(pool, text, *, limit=10):
    found = Hierarchy(pool).hypernyms(pool.texts.index(text), limit=limit)
    return [pool.texts[row] for row in found]


def test_parents_are_hypernyms_and_those_above_them_are_not(make):
    assert relevances(make(mention("B-NHL", "C4")), "B-NHL") == {
        "B-cell lymphoma": Relevance.SYNONYM,
        "lymphoma, B-cell": Relevance.SYNONYM,
        "lymphoma": Relevance.HYPERNYM,
        "cancer of lymph": Relevance.HYPERNYM,
        "blood disease": Relevance.HYPERNYM,
        "disease": Relevance.NONE,
        "disorder": Relevance.NONE,
    }


def test_a_synonym_that_is_a_hypernym_too_is_a_synonym(make):
    pool = make(mention("lymphoma", "C4"))
    assert relevances(pool, "lymphoma")["cancer of lymph"] == Relevance.SYNONYM
    assert hypernyms(pool, "lymphoma") == ["blood disease", "disease", "disorder"] or hypernyms(
        pool, "lymphoma"
    ) == ["disease", "disorder", "blood disease"]


def test_hypernyms_come_parent_by_parent_each_once(make):
    pool = make(mention("B-NHL", "C4"))
    assert hypernyms(pool, "B-NHL") == ["lymphoma", "cancer of lymph", "blood disease"]
    assert hypernyms(pool, "B-NHL", limit=2) == ["lymphoma", "cancer of lymph"]
    assert hypernyms(pool, "B-NHL", limit=0) == []


def test_a_root_and_an_unknown_concept_have_no_hypernyms(make):
    with pytest.warns(match="CNW810"):
        pool = make(mention("illness", "C1"), mention("strange", "C77"))
    assert hypernyms(pool, "illness") == hypernyms(pool, "strange") == []
    hierarchy = Hierarchy(pool)
    assert hierarchy.has_name(pool.texts.index("illness"))
    assert not hierarchy.has_name(pool.texts.index("strange"))
    assert set(relevances(pool, "strange").values()) == {Relevance.NONE}


def test_a_pool_without_parents_has_no_hypernyms(make_pool):
    pool = make_pool([0, 1], [2])
    assert Hierarchy(pool).hypernyms(0, limit=3) == []


def test_names_and_mentions_are_told_apart(make):
    pool = make(mention("B-NHL", "C4"), mention("LYMPHOMA", "C2"), mention("both", "C1|C2"))
    assert [pool.texts[row] for row in pool.mentions] == ["lymphoma", "B-NHL"]
    assert {pool.texts[row] for row in pool.names} == {
        name for concept in CONCEPTS for name in concept.names
    }


def test_records_of_one_concept_have_the_parents_of_all(make):
    more = (*CONCEPTS, Concept("C3", "blood disorder", parents=("C2",)))
    assert relevances(make(concepts=more), "blood disease")["lymphoma"] == Relevance.HYPERNYM


def test_parents_and_annotations_count_for_the_digest(make):
    flat = tuple(
        Concept(each.concept_id, each.canonical_name, each.aliases, alt_ids=each.alt_ids)
        for each in CONCEPTS
    )
    pools = make(), make(concepts=flat), make(mention("disease", "C1"))
    assert len({pool.digest() for pool in pools}) == 3
