"""Finds the cues of a language in a document. The cues stand in the language's `assertions.tsv`;
what their directions and scopes mean, in `lang/cues.py`.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add
from typing import Any, NamedTuple

from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc

from ..lang import Cue, LanguageData
from ..lang.cues import (
    ADJACENT,
    BESIDE,
    FORWARD,
    PSEUDO,
    is_pattern,
    phrases,
    regular_expression,
    resolve,
)
from ..text.cleaning import lower_in_place

_HEADING_SIGNS = " \t\n#*_=•-:"
# What begins the next section of a note, unlike "Mother: asthma".
_NEXT_HEADING = (
    r"[^:\n]{{2,60}}:\s*\Z|[A-Z][A-Z /&-]{{2,40}}(?::|\s*\Z)"
    r"|(?:[\w/&]+ )?(?i:{})[a-z]*(?: [\w/&]+)?:"
)


class CuePlace(NamedTuple):
    """A cue in a document: its first token, the token after it, and the cue."""

    start: int
    end: int
    cue: Cue


class StatementPlace(NamedTuple):
    """A statement of a document, in characters: where it begins and ends, and where the mentions in
    it end.
    """

    start: int
    end: int
    mention_ends: tuple[int, ...]


class CueFinder:
    """Finds cues: phrases word by word, with adverbs in them, and patterns in the text."""

    def __init__(
        self, cues: Iterable[Cue], language: LanguageData, tokenize: Callable[[str], Doc]
    ) -> None:
        """Compile cues.

        cues (Iterable[Cue]): The rows.
        language (LanguageData): Their language.
        tokenize (Callable[[str], Doc]): Splits phrases as texts are split.
        """
        cues = tuple(cues)
        self.categories = tuple(dict.fromkeys(cue.category for cue in cues))
        self.headings: dict[str, set[str]] = defaultdict(set)
        self._adverbs = language.assertions.adverbs
        self._adverb_endings = tuple(language.assertions.adverb_endings)
        self._other_endings = tuple(language.finder.endings_like_adverbs)
        # By the words of phrases, one after the other; None has the cues that end there.
        self._phrases: dict[Any, Any] = {}
        texts: dict[Cue, list[str]] = defaultdict(list)
        for cue in cues:
            text = resolve(cue.text, language.cue_parts, language.inflections)
            if is_pattern(text):
                texts[cue._replace(text="")].append(text)
                continue
            for phrase in phrases(text):
                # spaCy may split "V.a." and "v.a." differently.
                for cased in {phrase, phrase.capitalize()} if "." in phrase else (phrase,):
                    self._add_phrase([token.lower_ for token in tokenize(cased)], cue)
                if cue.direction == FORWARD and cue.scope not in BESIDE:
                    self.headings[cue.category].add(phrase.removesuffix(":"))
        # All patterns of one kind of cue are one, by any of these, since they differ in nothing but
        # their texts. Its group "pseudo" has what only looks like a cue.
        self.patterns = {
            cue: re.compile(regular_expression(own, texts.get(_only_like(cue), [])))
            for cue, own in texts.items()
            if cue.direction != PSEUDO
        }
        starts = "|".join(sorted(language.assertions.section_starts)) or r"\b\B"
        self._next_heading = re.compile(_NEXT_HEADING.format(starts))

    def _add_phrase(self, tokens: Sequence[str], cue: Cue) -> None:
        node = self._phrases
        for token in tokens:
            node = node.setdefault(token, {})
        node.setdefault(None, []).append(cue)

    def find_phrases(self, words: Sequence[str]) -> Iterator[CuePlace]:
        """Find the cues that are phrases. Adverbs may stand in them: "has now been excluded".

        words (Sequence[str]): The tokens of a document in lower case.
        YIELDS (CuePlace): The cues, in order.
        """
        for start, word in enumerate(words):
            node, end = self._phrases.get(word), start + 1
            while node is not None:
                for cue in node.get(None, ()):
                    yield CuePlace(start, end, cue)
                following = words[end] if end < len(words) else ""
                # A node with nothing but cues has no phrase that goes on.
                if following in node or len(node) == (None in node):
                    node = node.get(following)
                elif not words[end - 1][0].isalpha() or not self.is_adverb(following):
                    break
                end += 1

    def is_adverb(self, word: str) -> bool:
        """Check for a word that may stand in a cue.

        RETURNS (bool): True for adverbs, as far as their endings tell.
        """
        is_like_one = word.endswith(self._adverb_endings)
        return word in self._adverbs or (is_like_one and not word.endswith(self._other_endings))

    def find_patterns(
        self, doc: Doc, text: str, statements: Sequence[StatementPlace]
    ) -> Iterator[CuePlace]:
        """Find the cues that are patterns: anywhere in statements, or right after mentions.

        doc (Doc): The document.
        text (str): Its text.
        statements (Sequence[StatementPlace]): Its statements that have mentions.
        YIELDS (CuePlace): The cues.
        """
        text = lower_in_place(text)
        # `doc.char_span` joins the whole text each time.
        starts_of, lengths = doc.to_array([IDX, LENGTH]).T.tolist()
        ends_of = list(map(add, starts_of, lengths))
        for cue, regex in self.patterns.items():
            has_pseudo = "pseudo" in regex.groupindex
            for start, end, ends in statements:
                if cue.scope == ADJACENT:
                    matches = (regex.match(text, place, end) for place in ends)
                else:
                    matches = (match for match in regex.finditer(text, start, end))
                for match in matches:
                    if match is None or (has_pseudo and match["pseudo"]):
                        continue
                    first, last = match.span(match.lastindex or 0)
                    yield CuePlace(bisect_right(ends_of, first), bisect_left(starts_of, last), cue)

    def find_sections(self, text: str, category: str) -> Iterator[tuple[int, int]]:
        """Find the sections below headings that are cues.

        text (str): The text of a document.
        category (str): The category of the cues.
        YIELDS (Tuple[int, int]): The offsets of the heading and of the last character of the
            section.
        """
        headings = self.headings[category]
        at, first, has_lines = 0, -1, False
        for line in text.splitlines(keepends=True):
            words = line.strip(_HEADING_SIGNS).lower()
            is_next = self._next_heading.match(line.strip()) or (has_lines and not words)
            if first >= 0 and is_next:
                yield first, at - 1
                first = -1
            if words in headings:
                first, has_lines = at, False
            elif words:
                has_lines = True
            at += len(line)
        if first >= 0:
            yield first, at


def _only_like(cue: Cue) -> Cue:
    """Get what patterns that only look like those of a cue have in common."""
    reaches_far = cue.direction == FORWARD and cue.scope not in BESIDE
    return Cue("", cue.category if reaches_far else "", PSEUDO, "")
