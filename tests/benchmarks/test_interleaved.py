"""Turns, and the columns that compare them."""

import pytest


@pytest.fixture
def interleaved(modules):
    from _measure import interleaved

    return interleaved


def test_each_repeat_starts_with_the_next_side(interleaved):
    order = []

    def side(name):
        def turn(repeat):
            order.append((repeat, name))
            return f"{name}{repeat}"

        return turn

    turns = interleaved.take_turns([side("a"), side("b"), side("c")], 2, warm_up=1)
    assert turns == [["a0", "a1"], ["b0", "b1"], ["c0", "c1"]]
    assert order == [
        *((-1, "c"), (-1, "a"), (-1, "b")),
        *((0, "a"), (0, "b"), (0, "c")),
        *((1, "b"), (1, "c"), (1, "a")),
    ]


def test_without_repeats_nothing_runs(interleaved):
    assert interleaved.take_turns([pytest.fail], 0) == [[]]


def test_ratios_are_computed_turn_by_turn(interleaved):
    row = interleaved.ratio_columns([1.0, 2.0, 4.0], [8.0, 4.0, 2.0], prefix="again_")
    assert row == {"again_ratio": 2, "lowest_again_ratio": 0.5, "highest_again_ratio": 8}
    with pytest.raises(ValueError, match="longer"):
        interleaved.ratios([1.0], [1.0, 2.0])


def test_speeds_have_a_median_and_extremes(interleaved):
    row = interleaved.speed_columns([4.04, 8.0, 2.0, 6.0], "names_per_s", digits=1)
    assert row == {"names_per_s": 5.0, "slowest": 2.0, "fastest": 8.0}
    whole = interleaved.speed_columns([4.6], "per_s", prefix="again_")
    assert whole == {"again_per_s": 5, "again_slowest": 5, "again_fastest": 5}
    assert all(isinstance(value, int) for value in whole.values())
