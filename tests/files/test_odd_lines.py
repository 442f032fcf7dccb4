import pytest

from spacy_connorm.errors import ConnormError, ConnormWarning, unreadable
from spacy_connorm.files.odd_lines import OddLines


def read(odd, count, bad):
    """Read lines, of which some are odd."""
    good = []
    for number in odd.watch(range(1, count + 1)):
        if number in bad:
            odd.skip(unreadable("a.txt", number, "text", "it is bad"))
        else:
            good.append(number)
    return good


def test_a_few_odd_lines_are_skipped_and_warned_of_once():
    odd = OddLines()
    assert len(read(odd, 100, {7, 8, 9})) == 97
    with pytest.warns(ConnormWarning, match=r"CNW110.*3 of 100 lines.*'a\.txt', line 7: .*bad"):
        odd.warn("a.txt")
    assert "CN115" not in str(odd.first.args[0])[8:]


@pytest.mark.parametrize(("max_odd", "bad"), [(0.05, 6), (0.01, 2), (0, 1), (0.5, 51)])
def test_more_than_the_allowed_share_is_an_error_that_names_the_first(max_odd, bad):
    with pytest.raises(ConnormError, match=r"CN115.*'a\.txt', line 3: ") as caught:
        read(OddLines(max_odd), 100, range(3, 3 + bad))
    if max_odd:
        assert f"{bad} of 100 lines can't be read" in str(caught.value)
        assert "`--max-odd`" in str(caught.value)
    assert len(read(OddLines(bad / 100), 100, range(3, 3 + bad))) == 100 - bad


def test_a_long_file_of_another_format_is_not_read_to_its_end():
    odd = OddLines()
    with pytest.raises(ConnormError, match="CN115"):
        read(odd, 1_000_000, range(1_000_000))
    assert odd.read < 2_000
    assert not read(OddLines(1), 5_000, range(5_001))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "many"])
def test_a_share_is_from_0_to_1(share):
    with pytest.raises(ConnormError, match="CN006.*max_odd"):
        OddLines(share)


def test_a_line_that_raises_is_skipped_or_refused_and_other_errors_pass():
    odd = OddLines()
    with odd.skip_errors():
        raise unreadable("a.txt", 1, "text", "it is bad")
    assert odd.skipped == 1
    with pytest.raises(KeyError), odd.skip_errors():
        raise KeyError
    with pytest.raises(ConnormError, match="CN115"), OddLines(0).skip_errors():
        raise unreadable("a.txt", 1, "text", "it is bad")
