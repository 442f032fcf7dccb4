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
    return {(row.words, row.others): row for row in find_substitutions(ontologies, WORDS)}


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


BOWED = [
    ("bowed femur", "bowing of the femur"),
    ("webbed toe", "webbing of the toe"),
    ("slanted eye", "slanting eye"),
    ("red tongue", "ring of the tongue"),
    ("early onset", "ear onset"),
]


def test_endings_are_learned_from_several_words():
    found = find(BOWED)
    assert found[("-ed",), ("-ing",)] == Substitution(("-ed",), ("-ing",), 3, 0)
    assert found[("-ed",), ("-ing",)].endings == ("ed", "ing", 0.75)
    assert [row for row in found.values() if row.endings] == [found[("-ed",), ("-ing",)]]
    assert find(BOWED[1:]) == {}


def test_endings_of_names_of_other_concepts_are_not_learned():
    others = [("clawed hand",), ("clawing hand",)]
    assert (("-ed",), ("-ing",)) not in find([*BOWED, *others])


FOCAL = [
    ("focal seizure", "partial seizure"),
    ("focal onset seizure", "partial onset seizure"),
    ("focal motor seizure", "partial motor seizure"),
]


def test_a_pair_holds_in_its_company():
    found = find(FOCAL)
    assert found == {
        (("focal", "seizure"), ("partial", "seizure")): Substitution(
            ("focal", "seizure"), ("partial", "seizure"), 3, 0
        )
    }
    assert (("focal",), ("partial",)) in find([*FOCAL, ("focal deafness", "partial deafness")])


def test_a_pair_is_refused_if_a_word_has_many_names_without_the_other():
    broken = [("fractured rib", "bone rib"), ("fractured toe", "bone toe")]
    assert (("bone",), ("fractured",)) in find(broken)
    others = [(f"{name} of bone", f"{name} of skeleton") for name in "abcdefghijklmnopqrstuvw"]
    assert (("bone",), ("fractured",)) not in find([*broken, *others])
