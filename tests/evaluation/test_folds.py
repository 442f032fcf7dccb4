import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.evaluation.folds import make_folds

TEXTS = st.lists(st.sampled_from([f"text {number}" for number in range(30)]), min_size=1)


@given(TEXTS)
def test_each_mention_is_held_out_once(texts):
    folds = make_folds(texts, folds=5)
    assert (sum(fold.held_out.astype("int64") for fold in folds) == 1).all()
    assert all((fold.kept == ~fold.held_out).all() for fold in folds)


@given(TEXTS)
def test_no_text_is_on_both_sides(texts):
    for fold in make_folds([*texts, *(text.upper() for text in texts)], folds=5):
        kept = {text for text, mine in zip([*texts, *texts], fold.kept, strict=True) if mine}
        held = {text for text, mine in zip([*texts, *texts], fold.held_out, strict=True) if mine}
        assert not kept & held


def test_folds_hold_about_as_many_texts_and_are_the_same_again():
    texts = [f"text {number}" for number in range(103)]
    folds = make_folds(texts)
    assert sorted(int(fold.held_out.sum()) for fold in folds) == [10] * 7 + [11] * 3
    for one, other in zip(folds, make_folds(texts), strict=True):
        assert np.array_equal(one.held_out, other.held_out)
    other = make_folds(texts, seed=1)
    assert any(
        not np.array_equal(a.held_out, b.held_out) for a, b in zip(folds, other, strict=True)
    )
