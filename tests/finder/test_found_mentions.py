import pytest

from spacy_connorm.finder.found_mentions import FoundMention, choose_mentions


def mention(start, end, score):
    return FoundMention(start, end, score, "Disease")


LONG, GOOD, OTHER = mention(0, 3, 0.8), mention(1, 3, 1.0), mention(3, 4, 0.8)


@pytest.mark.parametrize(
    ("overlaps", "kept"),
    [
        ("longest", [LONG, OTHER]),
        ("best", [GOOD, OTHER]),
        ("all", [LONG, GOOD, OTHER]),
    ],
)
def test_overlaps_are_resolved_as_the_setting_says(overlaps, kept):
    assert choose_mentions([OTHER, GOOD, LONG], overlaps) == kept


def test_of_equally_good_mentions_the_longest_is_the_best():
    longer = mention(0, 3, 1.0)
    assert choose_mentions([GOOD, longer], "best") == [longer]
