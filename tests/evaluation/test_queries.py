"""The papers' preparation of mentions."""

import pytest

from spacy_connorm.evaluation.queries import biosyn_ids, biosyn_texts

LONG_FORMS = {"HD": "Huntington's disease", "BOC": "breast and ovarian cancer"}


@pytest.mark.parametrize(
    ("mention", "gold_ids", "texts"),
    [
        ("HD", ["D1"], ("huntington s disease",)),
        (
            "Non-Insulin  dependent\tDiabetes (NIDDM)",
            ["D1"],
            ("non insulin dependent diabetes niddm",),
        ),
        # split if, and only if, there are as many parts as gold ids
        ("breast and ovarian cancer", ["D1", "D2"], ("breast cancer", "ovarian cancer")),
        ("breast and ovarian cancer", ["D1"], ("breast and ovarian cancer",)),
        ("breast and ovarian cancer", ["D1", "D2", "D3"], ("breast and ovarian cancer",)),
        ("BOC", ["D1", "D2"], ("breast cancer", "ovarian cancer")),
        ("HD", ["D1", "D2"], ("huntington s disease",)),
        ("Éclampsia", [], ("éclampsia",)),
        ("--", ["D1"], ("--",)),
        ("", [], ("",)),
    ],
)
def test_texts(mention, gold_ids, texts):
    assert biosyn_texts(mention, gold_ids, LONG_FORMS) == texts


@pytest.mark.parametrize(
    ("gold_ids", "left"),
    [
        (["D1", "OMIM:1", "D2"], ("D1", "D2")),
        (["OMIM:1", "OMIM:2"], ("OMIM:1", "OMIM:2")),
        (["D1"], ("D1",)),
        ([], ()),
    ],
)
def test_omim_ids_go_where_there_are_others(gold_ids, left):
    assert biosyn_ids(gold_ids) == left
