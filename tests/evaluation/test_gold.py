import pytest

from spacy_connorm.errors import ConnormWarning
from spacy_connorm.evaluation import evaluate


def test_unseen_is_told_by_another_d_if_one_is_named(here):
    report = evaluate("pipeline", "gold.spacy", train_path=here / "train.spacy")
    assert report.rows[0]["unseen_mentions"] == 3


def test_ids_written_otherwise_are_told(here):
    with pytest.warns(ConnormWarning, match=r"CNW600.*'MESH:C4'.*'C1'"):
        evaluate("pipeline", "foreign.spacy")
