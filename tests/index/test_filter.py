import numpy as np
import pytest

from spacy_connorm.index.filter import AllowedConcepts
from spacy_connorm.index.search import SEARCHES


@pytest.mark.parametrize("search", SEARCHES)
def test_which_items_a_filter_allows_is_worked_out_once(search, index, monkeypatch):
    concepts = np.arange(len(index.store)) % 3 == 0
    allowed = AllowedConcepts(index, concepts)
    items = allowed.items(search)
    monkeypatch.setattr(type(index.members), "row_numbers", None)
    assert allowed.items(search) is items
    assert len(items.mask) == len(index.searcher(search).vectors)
    assert 0 < items.count < len(items.mask)
