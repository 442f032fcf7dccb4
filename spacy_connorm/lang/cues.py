"""The rows of a table of cues, and the notation in which they are written.

A cue is a phrase with alternatives, `(is|are) excluded`, words that may be missing, `(to be )?`,
and parts that are named in `cue_parts.toml`, `{kin}`. "'" is a curly apostrophe, too. Such cues are
compared word by word. One with any of these signs is a pattern that is searched in a text:

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

_BUILT_IN = {
    "word": r"[\w/-]{1,16}",
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
    "^": r"(?:(?<![^\n])|(?<=[.;:)*\u2022\u2013-]\s))",
    "[before:": "(?=",
    "[not before:": "(?!",
    "[after:": "(?<=",
    "[not after:": "(?<!",
}
# Not within a word.
_BORDER = r"(?:(?<!\w)|(?!\w))"
_ITEM = re.compile(r"\\.|\{\w+\}|\[(?:not )?(?:before|after):|\)\?|\)\*\d|.", re.DOTALL)
_PART = re.compile(r"\{(\w+)\}")
_PATTERN = re.compile(r"(?<!\\)(?:[\[<~^{]|\)\*)")
_ALTERNATIVES = re.compile(r"(?<!\\)\(((?:\\.|[^()\\])*)\)(\??)")
_SIGN = re.compile(r"[()|\[\]<>~^{}\\]")
_ESCAPED = re.compile(r"\\(.)")


class Cue(NamedTuple):
    """A row of `assertions.tsv`, in the shape of medspaCy's ConTextRule.

    text (str): The cue, in the notation of this module.
    category (str): What it says of mentions: "negated", "possible", "family", "history".
    direction (str): "forward": of what follows it. "backward": of what stands before it. "both".
        "end": it ends the scope of the category's cues. "present": what it is about is there, so it
        ends them, too, and there are no cues in it. "pseudo": it only looks like a cue.
    scope (str): "statement": to the end of a sentence, item or line. "comma": to the next comma.
        "adjacent": the mention right beside it. "answer": the same, if nothing follows. "sign":
        the mention right after it, and those joined with it. "near": the same, also after a few
        modifiers. "list": the same, and those listed with it. "start": the same, where the cue
        begins a statement. "warning": the same, and all after these.
    """

    text: str
    category: str
    direction: str
    scope: str


def literal(phrase: str) -> str:
    """Write a phrase as a cue.

    RETURNS (str): The phrase, with a backslash before each sign of the notation.
    """
    return _SIGN.sub(r"\\\g<0>", phrase)


def resolve(text: str, parts: Mapping[str, Iterable[str]]) -> str:
    """Write the parts of a cue out.

    text (str): A cue.
    parts (Mapping[str, Iterable[str]]): The alternatives of each part.
    RETURNS (str): The cue without parts but the built-in ones.
    """

    def write_out(match: re.Match[str]) -> str:
        items = parts.get(match[1])
        return f"({'|'.join(resolve(item, parts) for item in items)})" if items else match[0]

    return _PART.sub(write_out, text)


def is_pattern(text: str) -> bool:
    """Check whether a cue, with its parts written out, is a pattern.

    RETURNS (bool): False if it is a phrase with alternatives.
    """
    return bool(_PATTERN.search(text))


def phrases(text: str) -> Iterator[str]:
    """List the phrases of a cue that is not a pattern.

    text (str): The cue, with its parts written out.
    YIELDS (str): The phrases; also with curly apostrophes.
    """
    match = _ALTERNATIVES.search(text)
    if match is None:
        phrase = _ESCAPED.sub(r"\1", text)
        yield from dict.fromkeys((phrase, phrase.replace("'", "\u2019")))
        return
    for alternative in (*match[1].split("|"), *([""] if match[2] else [])):
        yield from phrases(text[: match.start()] + alternative + text[match.end() :])


def regular_expression(text: str) -> str:
    """Translate a pattern.

    text (str): The cue, with its parts written out.
    RETURNS (str): A regular expression, in which only `<...>` are groups.
    """
    return _BORDER + "".join(map(_translate, _ITEM.findall(text))) + _BORDER


def _translate(item: str) -> str:
    if item == "]":
        return _BORDER + ")"
    if item.startswith(")*"):
        return f"){{0,{item[2]}}}?"
    if part := _PART.fullmatch(item):
        return _BUILT_IN[part[1]]
    return _SIGNS.get(item) or re.escape(item.removeprefix("\\") or item)
