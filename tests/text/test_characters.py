import pytest

from spacy_connorm.text.characters import are_opposite


@pytest.mark.parametrize(
    ("text", "other", "opposite"),
    [
        ("ER- breast cancer", "ER+ Breast Cancer", True),
        ("CD4+ T cell", "cd4- t cell", True),
        ("CD4+/CD8-", "CD8+", True),
        ("CD4+ T cell", "CD4 T cell", False),
        ("CD4+ T cell", "CD4+ cell", False),
        ("CD4+ T cell", "CD8- T cell", False),
        ("HSV-1", "HSV+1", False),
        ("T- and B-cell", "T-cell", False),
        ("", "CD4-", False),
    ],
)
def test_a_plus_is_the_reverse_of_a_minus(text, other, opposite):
    assert are_opposite(text, other) is opposite
    assert are_opposite(other, text) is opposite
