import pytest

from spacy_connorm.finder.finder_files import frequent_words


@pytest.mark.parametrize(
    ("per_million", "expected"),
    [(1, ["fall", "today", "he"]), (200_000, ["fall"]), (600_000, [])],
)
def test_words_are_frequent_by_their_share(per_million, expected):
    lines = ["The falls of today", "a fall: 7 7", "he"]
    assert frequent_words(lines, per_million=per_million) == expected


def test_nothing_has_no_words():
    assert frequent_words([], per_million=1) == []
