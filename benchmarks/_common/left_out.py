"""The rows of the tables of English, and the rules of the mention finder, that are left out to
measure what they are worth.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

from spacy_connorm.finder.rules import RULES, Rule
from spacy_connorm.lang import LanguageData, load_language

ENGLISH = "en"
# A copy: rows are left out of the language that the package has read.
WHOLE = replace(load_language(ENGLISH))
RULES_TABLE = "rules"
# Tables of rows, and files of classes of words.
TABLES = (
    "meanings",
    "derivations",
    "plurals",
    "spellings",
    "other_meanings",
    "short_form_meanings",
    "finding_cues",
    "cues",
    "inflections",
)
CLASSES = ("words", "finder", "assertions")
# What is read in clinical notes only.
OF_NOTES = {"short_form_meanings", "finding_cues", "cues", "inflections", "assertions"}
# How many columns name a row, if not one.
_KEYS = {"meanings": 2, "other_meanings": 2, "short_form_meanings": 2, "finding_cues": 3, "cues": 3}
# What rows of a table may have in common so that they can be left out together.
_KINDS: dict[str, Callable[[Any], str]] = {
    "meanings": lambda row: row.kind,
    "short_form_meanings": lambda row: row.use,
    "finding_cues": lambda row: f"{row.side} {row.is_of_findings}",
    "cues": lambda row: f"{row.category} {row.direction}",
}
# Classes that are not of spaCy, and that names are read with.
_OF_SPACY = "stop_words"
_OF_NAMES = {
    "function_words",
    "inflected_endings",
    "possessives",
    "semantic_tags",
    "tag_beginnings",
    "tag_endings",
}
_OF_WORDS = {"plurals", "spellings"}
# Patterns of several words.
_OF_PHRASES = {"finding_cues", "cues", "inflections"}
# Both sides of a row replace each other.
_MUTUAL = {"root", "alike"}


class LeftOut(NamedTuple):
    """A row or a rule to leave out.

    table (str): The table, or "rules".
    row (str): The row, as its first columns have it, or the name of the rule.
    kind (str): Rows with the same one can be left out together; see `groups_of`.
    part (Any): What the language or the list of rules has of it: the row's number or key, a class
        and its word, or the rule.
    is_about (Callable[[str], bool]): Whether a word, in lower case, is read in another way.
    reads_names (bool): Whether the words of names are read in another way, too.
    """

    table: str
    row: str
    kind: str
    part: Any
    is_about: Callable[[str], bool]
    reads_names: bool = False


def all_left_out(tables: Collection[str]) -> Iterator[LeftOut]:
    """YIELDS (LeftOut): Each row of some tables, and each rule."""
    for table in TABLES:
        if table in tables:
            yield from _rows_of(table)
    for name in CLASSES:
        if name in tables:
            yield from _words_of(name)
    if RULES_TABLE in tables:
        for rule in RULES:
            yield LeftOut(RULES_TABLE, rule.name, "", rule, _is_anything)


def _rows_of(table: str) -> Iterator[LeftOut]:
    for number, row in enumerate(_rows(table)):
        columns = [*row.values()] if isinstance(row, Mapping) else row
        name = key_of(table, columns)
        kind = _KINDS.get(table, lambda row, name=name: name)(row)
        yield LeftOut(table, name, kind, number, _about(table, row), table in _OF_WORDS)


def _rows(table: str) -> tuple[Any, ...]:
    rows = getattr(WHOLE, table)
    return tuple(rows.items()) if isinstance(rows, Mapping) else rows


def key_of(table: str, columns: Sequence[str]) -> str:
    """RETURNS (str): What names a row: its first columns."""
    return "/".join(columns[: _KEYS.get(table, 1)])


def groups_of(left_outs: Iterable[LeftOut]) -> list[list[LeftOut]]:
    """RETURNS (List[List[LeftOut]]): Rows and rules that do not keep each other from acting, as
    "us" keeps the plural "s" from "mucus": those of one class or kind; each by itself in tables
    whose longest rows come first.
    """
    groups = defaultdict[Hashable, list[LeftOut]](list)
    for left_out in left_outs:
        groups[left_out.table, left_out.kind].append(left_out)
    return [*groups.values()]


def rest_of(group: Sequence[LeftOut]) -> tuple[LanguageData, tuple[Rule, ...]]:
    """Leave out rows of one table, or rules.

    group (Sequence[LeftOut]): The rows or rules; at least one.
    RETURNS (Tuple[LanguageData, Tuple[Rule, ...]]): The language and the rules without them.
    """
    table, parts = group[0].table, {left_out.part for left_out in group}
    if table == RULES_TABLE:
        return WHOLE, tuple(rule for rule in RULES if rule not in parts)
    rest: Any
    if table in CLASSES:
        classes = getattr(WHOLE, table)
        rest = replace(classes, **_rest_of_classes(classes, parts))
    else:
        rows = (row for number, row in enumerate(_rows(table)) if number not in parts)
        rest = type(getattr(WHOLE, table))(rows)
    return replace(WHOLE, **{table: rest}), RULES


def _rest_of_classes(classes: Any, parts: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """RETURNS (Dict[str, FrozenSet[str]]): The classes that some words are in, without them."""
    left_out = defaultdict[str, set[str]](set)
    for name, word in parts:
        left_out[name].add(word)
    return {name: getattr(classes, name) - words for name, words in left_out.items()}


def _about(table: str, row: Any) -> Callable[[str], bool]:
    """RETURNS (Callable[[str], bool]): Whether a row may be about a word."""
    if table in _OF_PHRASES:
        return _is_anything
    if table == "derivations":
        nouns = row.noun_endings if row.is_of_nouns else ()
        return partial(_ends, (row.ending, *nouns))
    if table == "meanings":
        if row.kind == "ending":
            return partial(_ends, (row.word[1:],))
        others = row.stands_for if row.kind in _MUTUAL else ()
        return {row.word, *others}.__contains__
    return partial(_has, _longest_word(row[0].lower()))


def _words_of(name: str) -> Iterator[LeftOut]:
    classes = getattr(WHOLE, name)
    for field in fields(classes):
        words = getattr(classes, field.name)
        for word in sorted(words) if field.name != _OF_SPACY else ():
            about = partial(_has, _longest_word(word.lower()))
            is_of_names = field.name in _OF_NAMES
            yield LeftOut(
                name, f"{field.name}/{word}", field.name, (field.name, word), about, is_of_names
            )


def _longest_word(text: str) -> str:
    return max(re.findall(r"[^\W_]+", text), key=len, default="")


def _has(part: str, word: str) -> bool:
    return part in word


def _ends(endings: tuple[str, ...], word: str) -> bool:
    return word.endswith(endings)


def _is_anything(word: str) -> bool:
    return True
