"""The rules for windows that have the words of a name, but are not mentions: one list, asked in
order. They see every window in the same way: one of a document, a part of a coordination, and a
text that is asked for alone.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from itertools import takewhile
from typing import NamedTuple

from ..files.package_data import read_toml
from ..index.cache import Cache
from . import document_rules, place_rules, text_rules
from .window import Window

_CACHED = 100_000


class Needs(Enum):
    """What a rule looks at.

    TEXT: The text of a window, its names, and a few facts about its place. Answers are kept by
        these.
    NOT_IN_D: The same. What D has is never refused.
    PLACE: The tokens around it, too. What such a rule says of the words of a name, it says of less
        certain readings of the same words.
    DOCUMENT: The other windows of its document, too, after all rules before this one.
    """

    TEXT = 0
    NOT_IN_D = 1
    PLACE = 2
    DOCUMENT = 3


class Rule(NamedTuple):
    """A reason why a window is not a mention. What it means is in `rules.toml`, by its name.

    name (str): Its name, for `explain` and for benchmarks.
    needs (Needs): What it looks at.
    applies (Callable[[Window], bool]): Whether it refuses a window.
    """

    name: str
    needs: Needs
    applies: Callable[[Window], bool]


RULES: tuple[Rule, ...] = (
    Rule("not allowed", Needs.TEXT, text_rules.has_no_names),
    Rule("stop text", Needs.TEXT, text_rules.is_stop_text),
    Rule("other sign", Needs.TEXT, text_rules.has_opposite_sign),
    Rule("too short", Needs.NOT_IN_D, text_rules.is_too_short),
    Rule("other letters", Needs.NOT_IN_D, text_rules.has_other_letters),
    Rule("function word", Needs.NOT_IN_D, text_rules.is_function_word),
    Rule("adjective", Needs.NOT_IN_D, text_rules.lacks_its_noun),
    Rule("no capital", Needs.NOT_IN_D, text_rules.lacks_capital),
    Rule("statement", Needs.NOT_IN_D, text_rules.states_no_adjective),
    Rule("count", Needs.NOT_IN_D, text_rules.counts_others),
    Rule("across", Needs.NOT_IN_D, text_rules.goes_across),
    Rule("denied name", Needs.NOT_IN_D, text_rules.denies_name),
    Rule("other punctuation", Needs.TEXT, text_rules.is_punctuated),
    Rule("list", Needs.TEXT, text_rules.is_list),
    Rule("adjective of a noun", Needs.PLACE, place_rules.is_of_noun),
    Rule("end of compound", Needs.PLACE, place_rules.ends_compound),
    Rule("other word", Needs.PLACE, place_rules.has_other_meaning),
    Rule("proper name", Needs.PLACE, place_rules.is_in_proper_name),
    Rule("species", Needs.PLACE, place_rules.is_species),
    Rule("other name", Needs.PLACE, place_rules.has_other_name),
    Rule("cut", Needs.PLACE, place_rules.is_cut),
    Rule("modifier", Needs.PLACE, place_rules.modifies_noun),
    Rule("kind", Needs.PLACE, place_rules.lacks_kind),
    Rule("part of list", Needs.PLACE, place_rules.cuts_list),
    Rule("uncertain", Needs.TEXT, text_rules.is_uncertain),
    Rule("part of other name", Needs.DOCUMENT, document_rules.is_part_of_other_name),
    Rule("everyday word", Needs.DOCUMENT, document_rules.is_everyday_word),
    Rule("undefined short form", Needs.DOCUMENT, document_rules.is_undefined),
)

# They refuse words only since no name has them in this order; they may still mean one.
ABOUT_ORDER = frozenset(["statement", "across", "uncertain"])
REASONS = read_toml(__package__, "rules.toml")


def _first_of(rules: Iterable[Rule], window: Window) -> str:
    """RETURNS (str): The name of the first rule that refuses a window; empty if none does."""
    for rule in rules:
        if rule.applies(window) and not (rule.needs is Needs.NOT_IN_D and window.is_annotated):
            return rule.name
    return ""


class Judge:
    """Asks the rules about windows, and keeps their answers to texts."""

    def __init__(self, rules: Sequence[Rule] = RULES) -> None:
        """Divide the rules by what they need.

        rules (Sequence[Rule]): The rules, in order.
        """
        single = [rule for rule in rules if rule.needs is not Needs.DOCUMENT]
        # Nearly all windows are refused by these, many times in the same way.
        self._of_texts = [*takewhile(lambda rule: rule.needs is not Needs.PLACE, single)]
        self._others = single[len(self._of_texts) :]
        self._of_places = {rule.name for rule in rules if rule.needs is Needs.PLACE}
        self._of_documents = [rule for rule in rules if rule.needs is Needs.DOCUMENT]
        self._known: Cache[tuple, str] = Cache(_CACHED)

    def _by_text(self, window: Window) -> str:
        """RETURNS (str): The first of the rules for texts that refuses a window, as `_first_of`."""
        key = (
            *(window.value, window.text, window.letters),
            *(window.has_pause, window.is_alone, window.is_compared, window.score == 1),
        )
        known = self._known.get(key)
        if known is None:
            known = _first_of(self._of_texts, window)
            self._known.put(key, known)
        return known

    def judge(self, windows: Iterable[Window]) -> None:
        """Find the first rule by which each of some windows is not a mention, if there is one.

        windows (Iterable[Window]): The windows of a document, whose `rule` is set to its name;
            those beside an id of their concept are mentions.
        """
        judged = list(windows)
        for window in judged:
            if name := self._by_text(window) or _first_of(self._others, window):
                window.refuse(name)
        _refuse_readings(judged, self._of_places)
        for rule in self._of_documents:
            for window in judged:
                if not window.rule and rule.applies(window):
                    window.refuse(rule.name)


def _refuse_readings(windows: Sequence[Window], rules: Collection[str]) -> None:
    """Refuse windows with replaced words where some rules refuse those with the words of a name:
    "speech delay" in "delayed speech (therapy)".
    """
    refused = {
        (window.start, window.end): window.rule
        for window in windows
        if window.score == 1 and window.rule in rules
    }
    for window in windows if refused else ():
        rule = refused.get((window.start, window.end))
        if rule and not window.rule:
            window.refuse(rule)
