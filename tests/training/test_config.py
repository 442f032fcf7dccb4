"""The blocks of a training config: what is refused before anything is read."""

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.config import Training, TrainingData


def make(**settings):
    return Training(batcher=PairBatcher(size=6), objective=sum, arguments={}, **settings)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_no_generator_takes(seed):
    with pytest.raises(ConnormError, match=r"CN006.*`seed` must be 0 to 2\*\*32 - 1"):
        make(seed=seed)


def test_the_largest_seed():
    assert make(seed=2**32 - 1).seed == 2**32 - 1


@pytest.mark.parametrize(
    ("setting", "example"),
    [("corpora", "train.spacy"), ("dev", "dev.spacy"), ("labels", "Disease")],
)
def test_a_text_is_no_list(setting, example):
    expected = rf'CN006.*`{setting}` must be a list, e.g. \["{example}"\], not \'mine\''
    with pytest.raises(ConnormError, match=expected):
        TrainingData(ontology="ontology.jsonl", **{setting: "mine"})
