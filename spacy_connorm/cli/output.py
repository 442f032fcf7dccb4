"""Tables on the terminal."""

from collections.abc import Mapping, Sequence

from wasabi import msg

from ..evaluation.evaluation_run import flat_mistakes
from ..evaluation.mistakes import count_kinds, largest_kinds
from ..evaluation.report import Row, Section, to_table


def show_sections(sections: Sequence[Section]) -> None:
    """Print tables.

    sections (Sequence[Section]): The tables.
    """
    for title, rows in sections:
        msg.divider(title)
        print(to_table(rows))


def show_mistakes(mistakes: Mapping[str, Sequence[Row]]) -> None:
    """Print the kinds of wrong answers, and examples of the largest.

    mistakes (Mapping[str, Sequence[Dict[str, Any]]]): Wrong answers by pipeline.
    """
    rows = flat_mistakes(mistakes)
    if rows:
        msg.divider("Wrong answers by kind")
        print(to_table(count_kinds(rows)))
        msg.divider("The largest kinds, with examples")
        print(to_table(largest_kinds(rows)))
