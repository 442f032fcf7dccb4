import pytest

from spacy_connorm.concepts import NIL, Candidate, Concept
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.mistakes import (
    OTHER,
    ConceptFacts,
    concept_facts,
    count_kinds,
    has_abbreviation,
    is_ancestor,
    kind_of,
    list_mistakes,
)
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.linker.sieve import Sieve

# tumour > carcinoma > breast carcinoma; two that are each other's parents
ANCESTORS = {"carcinoma": {"tumour"}, "breast": {"carcinoma", "tumour"}, "x": {"y"}, "y": {"x"}}
FACTS = ConceptFacts(
    lambda concept_id: ANCESTORS.get(concept_id, ()), {"tumour", "breast"}.__contains__
)


def gold(*concept_ids, text="a mention", in_ontology=True):
    return Gold(text, frozenset(concept_ids), in_ontology)


def written(*answers, nil=False):
    found = [Candidate(concept, concept, score, "text", "O-T") for concept, score in answers]
    return Prediction(found, NIL if nil or not found else found[0].concept_id)


def split(*concept_ids):
    found = [
        Candidate(each, each, 0.9, "text", "O-T", each, part)
        for part, each in enumerate(concept_ids, start=1)
    ]
    return Prediction(found, "|".join(concept_ids))


def expanded(concept_id, searched):
    return Prediction([Candidate(concept_id, "", 0.9, "text", "O-T", searched)], concept_id)


ANSWER = written(("tumour", 0.9), ("breast", 0.8))


@pytest.mark.parametrize("text", ["CT", "T-PLL", "primary HPT", "DM1", "(HUS)", "mtDNA", "PAX6-"])
def test_abbreviation(text):
    assert has_abbreviation(text)


@pytest.mark.parametrize(
    "text",
    ["stroke", "Wilms tumor", "BREAST CANCER", "type A", "X", "McArdle", "CARDIOMYOPATHIES", ""],
)
def test_no_abbreviation(text):
    assert not has_abbreviation(text)


def test_ancestor():
    assert is_ancestor(gold("breast"), written(("tumour", 0.9)), FACTS)
    assert not is_ancestor(gold("tumour"), written(("breast", 0.9)), FACTS)
    assert not is_ancestor(gold("breast"), written(("breast", 0.9)), FACTS)
    assert is_ancestor(gold("breast"), split("x", "tumour"), FACTS)


def test_facts_are_those_of_the_index():
    concepts = [Concept("A", "a"), Concept("B", "b", parents=("A",))]
    concepts += [Concept("C", "c", parents=("B", "D")), Concept("D", "d", parents=("C",))]
    lookup = ConceptLookup(NgramEncoder(), Sieve(), ExactIndex(), language="en")
    lookup.build(concepts, [("bb", "B")])
    lookup.add_synonyms([("cc", "C")])
    facts = concept_facts(lookup)
    found = {letter: facts.ancestors(letter) for letter in "ABCDX"}
    assert found["A"] == found["X"] == set()
    assert (found["B"], found["C"], found["D"]) == ({"A"}, {"A", "B", "D"}, {"A", "B", "C"})
    assert list(map(facts.in_data, "ABCDX")) == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("annotated", "answer", "kind"),
    [
        # what no answer could mend comes first
        (gold("y", "z", text="CT", in_ontology=False), ANSWER, "not in the ontology"),
        (gold("tumour", "z", text="CT"), ANSWER, "composite"),
        (gold("tumour", "z", text="CT"), split("tumour", "x"), "wrong part"),
        (gold("tumour", text="CT"), split("tumour", "x"), "wrong split"),
        (gold("breast", text="CT"), expanded("tumour", "a tumour"), "long form"),
        (gold("breast", text="CT"), written(("tumour", 1), ("breast", 1)), "abbreviation"),
        (gold("breast"), written(("breast", 0.1), nil=True), "nil"),
        (gold("breast"), written(("tumour", 1), ("breast", 1)), "ambiguous"),
        (gold("breast"), ANSWER, "ancestor"),
        (gold("tumour"), written(("carcinoma", 1)), "descendant"),
        (gold("tumour"), written(("breast", 0.9)), "descendant"),
        (gold("breast", text=" BC\n"), expanded("x", "BC"), "abbreviation"),
        (gold("breast", text="BC"), written(("x", 1)), "abbreviation"),
        (gold("tumour"), written(), "nil"),
        (gold("z"), ANSWER, "unseen concept"),
        (gold("breast"), written(("x", 1)), OTHER),
    ],
)
def test_the_first_kind_that_fits(annotated, answer, kind):
    assert kind_of(annotated, answer, FACTS) == kind


NO_FACTS = ConceptFacts(lambda concept_id: (), {"B"}.__contains__)
NAMES = {"A": "name of A", "B": "name of B"}


def predict(*concept_ids):
    found = [
        Candidate(concept_id, f"name of {concept_id}", 0.9, "text", "O-T")
        for concept_id in concept_ids
    ]
    return Prediction(found, found[0].concept_id if found else NIL)


GOLD = [
    Gold("a", frozenset("A"), in_ontology=True),
    Gold("x", frozenset("X"), in_ontology=False),
    Gold("b", frozenset("B"), in_ontology=True),
    Gold("b", frozenset("B"), in_ontology=True),
    Gold("c", frozenset("B"), in_ontology=True),
    Gold("nothing", frozenset(), in_ontology=False),
]
PREDICTIONS = [
    predict("A"),
    predict(),
    predict("A", "B"),
    predict("A", "B"),
    predict("A"),
    predict(),
]


def test_mistakes_are_counted_named_and_grouped_by_kind():
    rows = list_mistakes(GOLD, PREDICTIONS, NAMES, NO_FACTS)
    assert [(row["kind"], row["mention"]) for row in rows] == [
        ("not in the ontology", "x"),
        ("ambiguous", "b"),
        ("other", "c"),
    ]
    assert rows[1] == {
        "kind": "ambiguous",
        "times": 2,
        "mention": "b",
        "gold": "B",
        "gold_names": "name of B",
        "written": "A",
        "name": "name of A",
        "score": 0.9,
        "text": "text",
        "search": "O-T",
        "searched": "",
        "lenient": True,
        "rank": 1,
    }
    expected = {"gold_names": "not in the index", "written": NIL, "name": "", "score": None}
    assert {key: rows[0][key] for key in expected} == expected


def test_in_a_kind_the_most_frequent_comes_first():
    gold, predictions = [*GOLD[4:5], *GOLD[2:4]], [predict("A"), predict("Z"), predict("Z")]
    rows = list_mistakes(gold, predictions, NAMES, NO_FACTS)
    assert [(row["kind"], row["times"]) for row in rows] == [("other", 2), ("other", 1)]


def test_kinds_are_counted_run_by_run():
    rows = list_mistakes(GOLD, PREDICTIONS, NAMES, NO_FACTS)
    both = [{"run": run, **row} for run in ("one", "two") for row in rows]
    counts = count_kinds(both)
    assert counts[1] == {
        "run": "one",
        "kind": "ambiguous",
        "mentions": 2,
        "percent": 50.0,
        "lenient": 2,
    }
    assert [row["run"] for row in counts] == ["one"] * 3 + ["two"] * 3


def test_the_parts_of_a_composite_stand_in_one_row():
    parts = [
        Candidate("A", "name of A", 0.9, "a", "O-T", "the a", 1),
        Candidate("C", "name of C", 0.7, "c", "O-T", "the c", 1),
        Candidate("B", "name of B", 0.8, "b", "O-T", "the b", 2),
    ]
    gold = Gold("a and c", frozenset("AC"), in_ontology=True)
    (row,) = list_mistakes([gold], [Prediction(parts, "A|B")], NAMES, NO_FACTS)
    expected = {
        "kind": "wrong part",
        "written": "A|B",
        "name": "name of A | name of B",
        "score": 0.8,
        "text": "a | b",
        "search": "O-T",
        "searched": "the a | the b",
        "rank": None,
    }
    assert {key: row[key] for key in expected} == expected
