import pytest

from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.ngram_range import is_ngram_range
from spacy_connorm.errors import ConnormError


@pytest.mark.parametrize("lengths", [(1, 1), (3, 4), [1, 100]])
def test_lengths(lengths):
    assert is_ngram_range(lengths)


@pytest.mark.parametrize("lengths", [(), (1,), (0, 3), (4, 3), (1, 10**9), (1, 2, 3), (1.0, 2)])
def test_no_lengths(lengths):
    assert not is_ngram_range(lengths)
    for make in (NgramEncoder, DanEncoder):
        with pytest.raises(ConnormError, match="CN006.*ngram_range"):
            make(ngram_range=lengths)
