from spacy_connorm.finder.found_mentions import FoundMention, choose_mentions


def mention(start, end, score):
    return FoundMention(start, end, score, "Disease")


LONG, GOOD, OTHER = mention(0, 3, 0.8), mention(1, 3, 1.0), mention(3, 4, 0.8)


def test_the_longest_of_overlapping_mentions_is_kept():
    assert choose_mentions([OTHER, GOOD, LONG]) == [LONG, OTHER]


def test_of_equally_long_mentions_the_best_is_kept():
    better = mention(0, 3, 1.0)
    assert choose_mentions([LONG, better]) == [better]
