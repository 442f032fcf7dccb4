"""The rows of a table of cues, and the notation in which they are written.

A cue is a phrase with alternatives, `(is|are) excluded`, words that may be missing, `(to be )?`,
and parts that are named in `cue_parts.toml`, `{kin}`. A part may have a form that
`inflections.tsv` describes: `{exclude+ed}` is "excluded" and "ruled out". "'" is a curly
apostrophe, too. Such cues are compared word by word, and an adverb may stand between two words:
"has now been excluded". One with any of these signs is a pattern that is searched in a text:

    ( {word})*3         up to three of them
    advis~              up to three more letters
    ^                   the beginning of a clause: of a line, or after ".", ":", a dash ...
    [before: x]         what stands before x, which is not part of the cue; also [not before: x],
                        [after:x ] and [not after:x ]
    <x>                 the cue is only this part of the pattern
    {word} {letters} {number} {year} {phrase} {clause} {gap} {stop} {end}   see `_BUILT_IN`

A backslash stands before a sign that is meant as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

FORWARD, BACKWARD, BOTH = "forward", "backward", "both"
END, PRESENT, PSEUDO = "end", "present", "pseudo"
STATEMENT, COMMA, ADJACENT, PREDICATE = "statement", "comma", "adjacent", "predicate"
SIGN, NEAR, LIST, START, WARNING = "sign", "near", "list", "start", "warning"
ANSWER, BOX = "answer", "box"
# These have no scope of their own in the rest of a statement.
BESIDE = frozenset([SIGN, NEAR, LIST, START, WARNING])

_BUILT_IN = {
    # The names of findings are long: "glomerulosclerosis".
    "word": r"[\w/-]{1,24}",
    "letters": r"[a-z]{1,12}",
    "number": r"\d{1,3}",
    "year": r"(?:19|20)\d\d",
    # Up to the next sign; and past commas.
    "phrase": r"[^,.;:()]{0,40}",
    "clause": r"[^.;:\n]{0,60}?",
    # Between a mention and a cue that is about it.
    "gap": r"[\s:(?\u2013\u2014-]{0,3}",
    "stop": r"(?:[.,;)|!\n]|\Z)",
    "end": r"(?!\w)",
}
_SIGNS = {
    "(": "(?:",
    ")": ")",
    "|": "|",
    ")?": ")?",
    "<": "(",
    ">": ")",
    " ": r"\s",
    "~": "[a-z]{0,3}",
    "'": "['\u2019]",
    "^": r"(?:(?<![^\n])|(?<=[.!?;:)*\u2022\u2013-]\s))",
    "[before:": "(?=",
    "[not before:": "(?!",
    "[after:": "(?<=",
    "[not after:": "(?<!",
}
# Not within a word.
_BORDER = r"(?!\B\w)"
_ITEM = re.compile(r"\\.|\{\w+\}|\[(?:not )?(?:before|after):|\)\?|\)\*\d|.", re.DOTALL)
_PART = re.compile(r"\{(\w+)(?:\+(\w+))?\}")
_PATTERN = re.compile(r"(?<!\\)(?:[\[<~^{]|\)\*)")
_PHRASE_ITEM = re.compile(r"\\.|\)\?|.", re.DOTALL)
_SIGN = re.compile(r"[()|\[\]<>~^{}\\]")


class Cue(NamedTuple):
    """A row of `assertions.tsv`, in the shape of medspaCy's ConTextRule.

    text (str): The cue, in the notation of this module.
    category (str): What it says of mentions: "negated", "possible", "family", "history".
    direction (str): "forward": of what follows it. "backward": of what stands before it. "both".
        "end": it ends the scope of the category's cues. "present": what it is about is there, so it
        ends them, too, and there are no cues in it. "pseudo": it only looks like a cue.
    scope (str): "statement": to the end of a sentence, item or line. "comma": to the next comma.
        "adjacent": the mention right beside it. "predicate": the same, also with a phrase between
        them ("pain in both legs was denied"), and those listed with it. "sign": the mention right
        after it, and those joined with it. "near": the same, also after a few modifiers. "list":
        the same, and those listed with it. "start": the same, where the cue begins a statement.
        "warning": the same, and all after these. "answer": the mention right before it, if nothing
        follows but the next item. "box": the mention on the side where the boxes of the list stand.
    kind (str): What kind of possibility a possible mention is.
    """

    text: str
    category: str
    direction: str
    scope: str
    kind: str = ""


def literal(phrase: str) -> str:
    """Write a phrase as a cue.

    RETURNS (str): The phrase, with a backslash before each sign of the notation.
    """
    return _SIGN.sub(r"\\\g<0>", phrase)


def resolve(
    text: str,
    parts: Mapping[str, Iterable[str]],
    inflections: Iterable[Mapping[str, str]] = (),
) -> str:
    """Write the parts of a cue out.

    text (str): A cue.
    parts (Mapping[str, Iterable[str]]): The alternatives of each part.
    inflections (Iterable[Mapping[str, str]]): By form, what stands in place of the "ending" of a
        word; the first row with an ending that a word has is its own.
    RETURNS (str): The cue without parts but the built-in ones.
    """

    def write_out(match: re.Match[str]) -> str:
        items = parts.get(match[1])
        if not items:
            return match[0]
        if match[2]:
            items = [_inflect(item, match[2], inflections) for item in items]
        return f"({'|'.join(resolve(item, parts, inflections) for item in items)})"

    return _PART.sub(write_out, text)


def _inflect(phrase: str, form: str, inflections: Iterable[Mapping[str, str]]) -> str:
    """Inflect the first word of a phrase, if a row has its ending: "rule out" is "ruled out"."""
    word, space, others = phrase.partition(" ")
    for row in inflections:
        if word.endswith(row["ending"]):
            return f"{word.removesuffix(row['ending'])}{row[form]}{space}{others}"
    return phrase


def is_pattern(text: str) -> bool:
    """Check whether a cue, with its parts written out, is a pattern.

    RETURNS (bool): False if it is a phrase with alternatives.
    """
    return bool(_PATTERN.search(text))


def phrases(text: str) -> list[str]:
    """List the phrases of a cue that is not a pattern.

    text (str): The cue, with its parts written out.
    RETURNS (List[str]): The phrases; also with curly apostrophes.
    """
    written, _ = _alternatives(iter(_PHRASE_ITEM.findall(text)))
    return list(dict.fromkeys([*written, *(phrase.replace("'", "\u2019") for phrase in written)]))


def _alternatives(items: Iterator[str]) -> tuple[list[str], str]:
    """Read alternatives up to the sign that closes them.

    items (Iterator[str]): The signs and letters of a cue.
    RETURNS (Tuple[List[str], str]): The alternatives, and the sign; empty at the end.
    """
    complete, phrases = list[str](), [""]
    for item in items:
        if item in (")", ")?"):
            return [*complete, *phrases], item
        if item == "|":
            complete, phrases = [*complete, *phrases], [""]
        elif item == "(":
            inner, closing = _alternatives(items)
            inner += [""] if closing == ")?" else []
            phrases = [phrase + other for phrase in phrases for other in inner]
        else:
            letter = item.removeprefix("\\")
            phrases = [phrase + letter for phrase in phrases]
    return [*complete, *phrases], ""


def regular_expression(texts: Iterable[str], only_like: Iterable[str] = ()) -> str:
    """Translate patterns to one that matches any of them in a text in lower case.

    texts (Iterable[str]): Cues, with their parts written out.
    only_like (Iterable[str]): Others that go first and match what only looks like a cue.
    RETURNS (str): A regular expression, in which only `<...>` are groups, and "pseudo", which has
        what the others match.
    """
    pseudo = "|".join(map(_translated, only_like))
    first = f"(?P<pseudo>{pseudo})|" if pseudo else ""
    # One border for all is faster than one for each.
    return f"{_BORDER}(?:{first}{'|'.join(map(_translated, texts))}){_BORDER}"


def _translated(text: str) -> str:
    return "".join(map(_translate, _ITEM.findall(text.lower())))


def _translate(item: str) -> str:
    if item == "]":
        return _BORDER + ")"
    if item.startswith(")*"):
        return f"){{0,{item[2]}}}?"
    if part := _PART.fullmatch(item):
        return _BUILT_IN[part[1]]
    return _SIGNS.get(item) or re.escape(item.removeprefix("\\") or item)
