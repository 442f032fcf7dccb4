"""The order of candidates after reranking."""

import numpy as np

from spacy_connorm.concepts import Candidate
from spacy_connorm.reranking.ranking import is_ranked, rank_again

A, B, C = (Candidate(each, each, 0.5, each, "O-T") for each in "ABC")


def test_mentions_with_one_candidate_and_parts_of_composites_keep_theirs():
    parts = [A._replace(part=1), B._replace(part=2)]
    assert not is_ranked([]) and not is_ranked([A]) and not is_ranked(parts)
    assert rank_again([[], [A], parts, [A, B]], np.array([0.0, 1.0])) == [[], [A], parts, [B, A]]


def test_equal_scores_keep_the_order():
    assert rank_again([[A, B, C], [B, C]], np.array([1.0, 2, 1, 3, 3])) == [[B, A, C], [B, C]]
