"""The rules for windows that have the words of a name, but are not mentions: one list, asked in
order. They see every window in the same way: one of a document, a part of a coordination, and a
text that is asked for alone.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from itertools import takewhile
from typing import NamedTuple

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
    """A reason why a window is not a mention.

    name (str): Its name, for `explain` and for benchmarks.
    reason (str): What it means, for users.
    needs (Needs): What it looks at.
    applies (Callable[[Window], bool]): Whether it refuses a window.
    """

    name: str
    reason: str
    needs: Needs
    applies: Callable[[Window], bool]


RULES: tuple[Rule, ...] = (
    Rule(
        "not allowed",
        "its names were removed, are inexact synonyms (`inexact_names`), or are of types or "
        "branches that the normalizer leaves out",
        Needs.TEXT,
        text_rules.has_no_names,
    ),
    Rule("stop text", "it is a stop text", Needs.TEXT, text_rules.is_stop_text),
    Rule(
        "other sign",
        "it has a minus where the names have a plus, or the reverse",
        Needs.TEXT,
        text_rules.has_opposite_sign,
    ),
    Rule("too short", "it has too few letters", Needs.NOT_IN_D, text_rules.is_too_short),
    Rule(
        "other letters",
        "it is short, and no name has exactly these letters",
        Needs.NOT_IN_D,
        text_rules.has_other_letters,
    ),
    Rule(
        "function word",
        "it is a function word, such as 'more'",
        Needs.NOT_IN_D,
        text_rules.is_function_word,
    ),
    Rule(
        "adjective",
        "it is an adjective that has lost its noun: 'hépatique' is not hepatitis",
        Needs.NOT_IN_D,
        text_rules.lacks_its_noun,
    ),
    Rule(
        "no capital",
        "all names with these words have capitals, and it has none or only derives from them "
        "(`match_capitals`)",
        Needs.NOT_IN_D,
        text_rules.lacks_capital,
    ),
    Rule(
        "statement",
        "it has a verb, and no adjective that fits it: 'the ventricle is enlarged'",
        Needs.NOT_IN_D,
        text_rules.states_no_adjective,
    ),
    Rule(
        "count",
        "its number counts something else: 'dystrophy in 6 (patients)', '2 myopia (patients)', or "
        "is that of the next list item",
        Needs.NOT_IN_D,
        text_rules.counts_others,
    ),
    Rule(
        "across",
        "its words are on both sides of 'and', 'or', a preposition or a line break, and no name "
        "joins them like this or has them in this order",
        Needs.NOT_IN_D,
        text_rules.goes_across,
    ),
    Rule(
        "reversed",
        "it has the two words of a name in reverse: a bone collar is not a collar bone",
        Needs.NOT_IN_D,
        text_rules.is_reversed,
    ),
    Rule(
        "organ",
        "it is a part of the body that other names call abnormal: the small intestine is not a "
        "hypoplastic intestine",
        Needs.NOT_IN_D,
        text_rules.is_organ,
    ),
    Rule(
        "denied name",
        "it is another name and a word that denies it, or what is after it: 'seizures absent' are "
        "not absence seizures, nor is the speech '(in the absence) of fever'",
        Needs.NOT_IN_D,
        text_rules.denies_name,
    ),
    Rule(
        "other punctuation",
        "no name has its words in this order with this punctuation",
        Needs.TEXT,
        text_rules.is_punctuated,
    ),
    Rule(
        "list",
        "it may be two items of a list: a name with a comma is found on a line or in a sentence of "
        "its own, if a number follows the comma, if it has several words on both sides, or if "
        "annotated documents have it exactly so",
        Needs.TEXT,
        text_rules.is_list,
    ),
    Rule(
        "adjective of a noun",
        "it is said of a noun, and not of a patient: 'pie diabético' is not diabetes",
        Needs.PLACE,
        place_rules.is_of_noun,
    ),
    Rule(
        "end of compound",
        "it is the end of a compound with another meaning",
        Needs.PLACE,
        place_rules.ends_compound,
    ),
    Rule(
        "other word",
        "the word after it gives it another meaning: 'lead to', 'fall precautions'",
        Needs.PLACE,
        place_rules.has_other_meaning,
    ),
    Rule(
        "proper name",
        "it is a part of the name of a person, a place, an organization, a trial or a scale: 'Mr. "
        "(Burns)', 'National (Cancer) Institute'",
        Needs.PLACE,
        place_rules.is_in_proper_name,
    ),
    Rule(
        "species",
        "it is the second word of the Latin name of an organism: 'Mycobacterium (tuberculosis)'",
        Needs.PLACE,
        place_rules.is_species,
    ),
    Rule(
        "other name",
        "the word before it makes it another finding: 'yellow fever', 'gag (reflex absent)'",
        Needs.PLACE,
        place_rules.has_other_name,
    ),
    Rule(
        "cut",
        "it ends with an adjective whose noun is after it: 'bud to the metanephric (mesenchyme)', "
        "'decreased visual (acuity)'",
        Needs.PLACE,
        place_rules.is_cut,
    ),
    Rule(
        "modifier",
        "its last word only modifies the noun after it: 'small kidney (stone)'",
        Needs.PLACE,
        place_rules.modifies_noun,
    ),
    Rule(
        "kind",
        "a letter or a number after it belongs to the name: 'hepatitis (C)', 'HIV(-1)'",
        Needs.PLACE,
        place_rules.lacks_kind,
    ),
    Rule(
        "part of list",
        "it is some of the parts that slashes join: 'n/v(/d)'",
        Needs.PLACE,
        place_rules.cuts_list,
    ),
    Rule(
        "uncertain",
        "it has other words than a name, and function words that do not belong to a name",
        Needs.TEXT,
        text_rules.is_uncertain,
    ),
    Rule(
        "cut name",
        "it cuts off a part of a name: 'Canavan (disease is inherited)', '(abdomen: pain) in the "
        "chest'",
        Needs.DOCUMENT,
        document_rules.cuts_name,
    ),
    Rule(
        "part of other name",
        "it is a part of a name in the background vocabulary: 'tumor (necrosis factor)'",
        Needs.DOCUMENT,
        document_rules.is_part_of_other_name,
    ),
    Rule(
        "everyday word",
        "the document mostly has it without a capital (`match_capitals`)",
        Needs.DOCUMENT,
        document_rules.is_everyday_word,
    ),
    Rule(
        "undefined short form",
        "it is a short form of up to `short_letters`, the document does not define it, and has too "
        "few words of its long forms (`undefined_short_forms`)",
        Needs.DOCUMENT,
        document_rules.is_undefined,
    ),
)

# They refuse words only since no name has them in this order; they may still mean one.
ABOUT_ORDER = frozenset(["statement", "across", "reversed", "uncertain"])
REASONS = {rule.name: rule.reason for rule in RULES}


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
