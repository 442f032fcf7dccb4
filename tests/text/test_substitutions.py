"""Words that names of one concept use in place of each other."""

import pytest

from spacy_connorm.text.substitutions import Substitution, find_substitutions
from spacy_connorm.text.words import words_of

WORDS = words_of("en")

KIDNEY = [
    ("kidney failure", "renal failure"),
    ("Kidney Diseases", "renal disease", "nephropathy"),
    ("cyst of kidney", "renal cyst"),
    ("kidney stone",),
    ("renal stone", "renal calculus"),
    ("stone", "calculus"),
]


def find(*ontologies):
    return {(each.words, each.others): each for each in find_substitutions(ontologies, WORDS)}


def test_pairs_of_names_are_counted_in_both_senses():
    found = find(KIDNEY)
    assert found[("kidney",), ("renal",)] == Substitution(("kidney",), ("renal",), 3, 1)
    assert found[("kidney",), ("renal",)].certainty == 3 / 5


def test_substitutions_need_more_than_one_context():
    assert (("failure",), ("stop",)) not in find([("heart failure", "heart stop")])


def test_something_must_be_left_of_a_name():
    whole = [("fever", "pyrexia"), ("pyrexia", "fever")]
    assert find(whole) == {}


def test_words_may_be_missing_on_one_side():
    found = find([("heart disease", "severe heart disease"), ("severe cold", "cold")])
    assert found[(), ("severe",)] == Substitution((), ("severe",), 2, 0)


def test_several_words_stand_for_others():
    found = find(
        [("mucous membrane tumor", "mucosa tumor"), ("membrane, mucous cyst", "mucosa cyst")]
    )
    assert found[("membrane", "mucous"), ("mucosa",)].same == 2


def test_contexts_and_counts_come_from_all_ontologies():
    first, second = [("kidney cyst", "renal cyst")], [("kidney stone", "renal stone")]
    assert find(first) == find(second) == {}
    assert find(first, second)[("kidney",), ("renal",)].same == 2


def test_a_name_of_several_concepts_is_the_same_if_one_is_shared():
    names = [("kidney cyst", "x"), ("renal cyst", "kidney cyst"), ("kidney pain", "renal pain")]
    found = find([*names, ("renal stone",), ("kidney stone",)])
    assert found[("kidney",), ("renal",)] == Substitution(("kidney",), ("renal",), 2, 1)


@pytest.mark.parametrize(("different", "is_kept"), [(3, True), (4, False)])
def test_words_that_mostly_mean_something_else_are_not_substituted(different, is_kept):
    names = [("kidney cyst", "renal cyst"), ("kidney stone", "renal stone")]
    names += [(f"{word} pain {n}",) for n in range(different) for word in ("kidney", "renal")]
    assert ((("kidney",), ("renal",)) in find(names)) is is_kept


def test_a_word_twice_in_a_name_counts_once():
    names = [("cell cell cyst", "cell tissue cyst"), ("cell cell stone", "cell tissue stone")]
    assert find(names)[("cell",), ("tissue",)].same == 2


def test_nothing_is_found_in_nothing():
    assert all(find_substitutions(nothing, WORDS) == [] for nothing in ([], [[]], [[()]]))
