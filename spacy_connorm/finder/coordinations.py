"""Mentions that share words with their neighbours: "breast and ovarian cancer" is one mention of
two names, although only "ovarian cancer" has the words of a name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from spacy.attrs import LOWER
from spacy.tokens import Doc

from ..documents.abbreviations import abbreviation_spans, get_abbreviations, read_abbreviations
from ..documents.token_texts import texts_of
from ..text.cleaning import clean
from ..text.composites import PART_SEPARATOR, composite_splitter
from ..text.statements import is_item_number
from ..text.words import MOST_READERS, Words
from .found_mentions import FoundMention, choose_mentions
from .phrases import phrases_of

_COMMA, _SLASH = ",", "/"
_SIGNS = frozenset([_SLASH, "&", "+", _COMMA])
# Tokens inside a part, such as the dash of "T-cell".
_PASSED = frozenset(["-", "\u2010", "\u2011", "\n", "\r\n"])
_MOST_WORDS = 3
_MOST_PARTS = 6
_CACHED = 65_536
# A window of a document: its first token and the token after it.
_Window = tuple[int, int]


class _Segment(NamedTuple):
    """The words between two separators of a list that begins or ends with a mention.

    is_joined (bool): Whether a conjunction, not only commas, is between them and the mention's side
        of the list.
    places (List[int]): Their tokens, the nearest to the mention first.
    """

    is_joined: bool
    places: list[int]


class _Coordination(NamedTuple):
    """A wider window that a mention may be extended to.

    start (int): Its first token.
    end (int): The token after it.
    interpretations (List[Tuple[str, ...]]): The parts that it may stand for, the most likely first.
    taken (FrozenSet[str]): The texts of the other mentions inside it. None of them may be a part.
    needs_names (bool): Whether all parts must be names, as none of them is a mention by itself.
    """

    start: int
    end: int
    interpretations: list[tuple[str, ...]]
    taken: frozenset[str] = frozenset()
    needs_names: bool = False


@dataclass(frozen=True, eq=False)
class _Text:
    """A document in which coordinations are looked for.

    doc (Doc): The document.
    words (Sequence[str]): Its tokens in lower case, and an empty one, which is after the last token
        and before the first: it has the number -1, too.
    mentions (Sequence[FoundMention]): Its mentions.
    label (str): The label of mentions that are made of none.
    """

    doc: Doc
    words: Sequence[str]
    mentions: Sequence[FoundMention]
    label: str

    @cached_property
    def owners(self) -> dict[int, FoundMention]:
        """The mention of each token that is in one."""
        return {
            token: mention
            for mention in self.mentions
            for token in range(mention.start, mention.end)
        }

    def is_free(self, start: int, end: int) -> bool:
        """Check whether no mention has any of some tokens."""
        return self.owners.keys().isdisjoint(range(start, end))

    def part(self, start: int, end: int) -> str:
        """Get the text of some tokens, cleaned."""
        return clean(self.doc[start:end].text)


def _join(
    mentions: Sequence[FoundMention],
    possible: Mapping[FoundMention, Sequence[_Coordination]],
    names: Mapping[str, str],
) -> list[FoundMention]:
    wider = []
    for mention, windows in possible.items():
        for start, end, interpretations, taken, needs_names in windows:
            named = (parts for parts in interpretations if all(part in names for part in parts))
            parts = next(named, ())
            own = [names[part] for part in parts]
            if parts and taken.isdisjoint(parts) and (all(own) or not needs_names):
                name = PART_SEPARATOR.join(own) if all(own) else ""
                wider.append(mention._replace(start=start, end=end, name=name))
                break
    return choose_mentions([*wider, *mentions]) if wider else list(mentions)


def _next(words: Sequence[str], place: int, step: int) -> int:
    """Find the next token that is neither a dash nor the end of a line."""
    place += step
    while words[place] in _PASSED:
        place += step
    return place


def _is_whole(part: str, text: str) -> bool:
    """Check whether a part stands in a text as it is: "Hodgkin lymphoma" does not in "Hodgkin and
    non-Hodgkin lymphoma".
    """
    return part in text.replace(f"-{part}", "")


class CoordinationJoiner:
    """Extends mentions to coordinations in one language."""

    def __init__(self, words: Words) -> None:
        """Collect the words between and at the edges of parts.

        words (Words): Reads the words of the language.
        """
        self._words = words
        self._splitter = composite_splitter(words.language.code)
        self._phrases = phrases_of(words)
        # Commas count only together with a conjunction: "breast, ovarian and lung cancer".
        self._separators = _SIGNS | words.language.finder.listing_conjunctions
        # Words that a part can't begin or end with.
        self._small_words = words.classes.function_words | words.classes.determiners
        self._separates = lru_cache(_CACHED)(self._is_separator)
        self._has_content = lru_cache(_CACHED)(self._is_content)
        self._divides = lru_cache(_CACHED)(lambda text: list(self._splitter.split(text)))

    def join(
        self,
        docs: Sequence[Doc],
        found: Sequence[Sequence[FoundMention]],
        names_among: Callable[[Iterable[str]], Mapping[str, str]],
        label: str,
    ) -> list[list[FoundMention]]:
        """Extend mentions to whole coordinations, if each part is a name. A coordination absorbs
        mentions with another label, unless they are a part by themselves: the anatomical term
        "femur" in the findings "femur and tibia fractures". Normalizers split such mentions again.

        docs (Sequence[Doc]): The documents.
        found (Sequence[Sequence[FoundMention]]): The mentions of each in order, without overlaps.
        names_among (Callable[[Iterable[str]], Mapping[str, str]]): Selects the texts that are
            names or can be rewritten as names. Its values are these names, empty for a text that
            was rewritten.
        label (str): The label of mentions that are made of none.
        RETURNS (List[List[FoundMention]]): The same mentions, some of them extended.
        """
        possible = [
            dict(self._possible(_Text(doc, self._words_of(doc), mentions, label)))
            for doc, mentions in zip(docs, found, strict=True)
        ]
        windows = chain.from_iterable(
            chain.from_iterable(windows_of.values()) for windows_of in possible
        )
        # Looked up together, which is much faster than one by one.
        texts = dict.fromkeys(
            text
            for coordination in windows
            for parts in coordination.interpretations
            for text in parts
        )
        names = names_among(texts) if texts else {}
        return [
            _join(mentions, by_mention, names)
            for mentions, by_mention in zip(found, possible, strict=True)
        ]

    def _possible(self, text: _Text) -> Iterator[tuple[FoundMention, list[_Coordination]]]:
        """YIELDS (Tuple[FoundMention, List[_Coordination]]): A mention, or a short form of several
        names, and its coordinations, the longest first.
        """
        for mention in text.mentions:
            yield mention, list(self._around(text, mention))
        yield from self._short_forms(text)

    def _short_forms(self, text: _Text) -> Iterator[tuple[FoundMention, list[_Coordination]]]:
        """List the short forms of several names: "D&V" is diarrhea and vomiting."""
        if not any(self._divides(defined.long) for defined in get_abbreviations(text.doc)):
            return  # their uses are looked for in the whole text
        abbreviations = read_abbreviations(text.doc)
        for span in abbreviation_spans(text.doc):
            ways = self._divides(abbreviations.long_form(span.text, span.end_char - 1))
            if ways and text.is_free(span.start, span.end):
                whole = _Coordination(span.start, span.end, ways, needs_names=True)
                yield FoundMention(span.start, span.end, 1.0, text.label), [whole]

    def _around(self, text: _Text, mention: FoundMention) -> Iterator[_Coordination]:
        """List the coordinations that a mention begins, ends or is in the middle of."""
        windows = set(self._windows(text.words, mention))
        for start, end in sorted(windows, key=lambda window: (window[0] - window[1], window)):
            taken = {text.owners[place] for place in range(start, end) if place in text.owners}
            taken -= {mention}
            is_cut = any(other.start < start or other.end > end for other in taken)
            if is_cut or any(self._stays(text.words, other, mention) for other in taken):
                continue
            written = clean(self._phrases.simplify_verbs(text.doc[start:end].text))
            # If no part lacks a word, the other parts are not mentions: "ST depression and angina".
            interpretations = [
                parts
                for parts in self._splitter.split(written)
                if not all(_is_whole(part, written) for part in parts)
            ]
            if interpretations:
                others = frozenset(text.part(other.start, other.end) for other in taken)
                yield _Coordination(start, end, interpretations, others)

    def _words_of(self, doc: Doc) -> list[str]:
        """Read the tokens of a document in lower case, and "mild to moderate" as "mild / moderate".

        doc (Doc): The document.
        RETURNS (List[str]): See `_Text`.
        """
        words = [*texts_of(doc, LOWER), ""]
        grades, ranges = self._words.classes.grades, self._words.classes.range_words
        for place in [at for at, word in enumerate(words) if word in ranges]:
            if all(words[_next(words, place, step)] in grades for step in (-1, 1)):
                words[place] = _SLASH
        return words

    def _stays(self, words: Sequence[str], other: FoundMention, mention: FoundMention) -> bool:
        """Check whether another mention should not be absorbed by a coordination. One with the same
        label is more likely a part by itself, as in "squamous cell papilloma and carcinoma", unless
        it is an adjective, as in "myoclonic and tonic seizures", or the mention after it ends with
        what both may have: "pain and swelling of the joints".
        """
        is_single = other.end - other.start == 1
        is_adjective = is_single and self._words.is_modifier(words[other.start])
        shares_end = other.end <= mention.start and not self._words.classes.prepositions.isdisjoint(
            words[mention.start : mention.end]
        )
        return other.label == mention.label and not (is_adjective or shares_end)

    def _windows(self, words: Sequence[str], mention: FoundMention) -> Iterator[_Window]:
        """List the windows that begin or end with a mention, and those with words on both sides of
        it: "short, broad fingers and toes".

        words (Sequence[str]): The tokens of a document in lower case, and an empty one.
        mention (FoundMention): The mention.
        YIELDS (Tuple[int, int]): Their start and end.
        """
        ends = list(self._ends(words, mention))
        yield from ((mention.start, end) for end in ends)
        before = _next(words, mention.start, -1)
        segments = self._segments(words, before, -1)
        for segment in segments[:1]:
            for place in segment.places:
                if self._has_content(words[place]):
                    yield from ((place, end) for end in ends[:_MOST_WORDS])
        if self._has_content(words[before]):
            # "type 1 and 2 diabetes": the last part begins before the mention.
            segments = self._segments(words, _next(words, before, -1), -1)
        yield from ((start, mention.end) for start in self._starts(words, segments))

    def _starts(self, words: Sequence[str], segments: Sequence[_Segment]) -> Iterator[int]:
        """List where the windows that end with a mention may begin.

        words (Sequence[str]): The tokens in lower case.
        segments (Sequence[_Segment]): The list before the mention.
        YIELDS (int): Their first tokens.
        """
        is_joined = bool(segments) and segments[0].is_joined
        all_places = chain.from_iterable(segment.places for segment in segments)
        for place in all_places if is_joined else self._modifiers(words, segments):
            if self._has_content(words[place]):
                yield place

    def _modifiers(self, words: Sequence[str], segments: Sequence[_Segment]) -> Iterator[int]:
        """List the adjectives that only commas separate from a mention: "short, broad fingers",
        "low-set, rotated ears".

        YIELDS (int): Their first tokens, the nearest to the mention first.
        """
        for _, places in segments:
            if not self._words.is_adjective(words[places[0]]):
                return
            # The parts of a word are two tokens apart, with a hyphen between them.
            parts = takewhile(lambda pair: pair[0] - pair[1] == 2, pairwise(places))
            size = 1 + sum(1 for _ in parts)
            yield places[size - 1]
            if len(places) > size:
                return

    def _ends(self, words: Sequence[str], mention: FoundMention) -> Iterator[int]:
        """List where the windows that begin with a mention may end.

        YIELDS (int): The tokens after them.
        """
        for segment in self._segments(words, self._end_of_first_part(words, mention), 1):
            for place in segment.places if segment.is_joined else ():
                if self._has_content(words[place]) and not self._goes_on(words, place):
                    yield place + 1

    def _end_of_first_part(self, words: Sequence[str], mention: FoundMention) -> int:
        """Find the token after a mention and what the first part adds to it: "of the 4th" in
        "clinodactyly of the 4th and 5th fingers".
        """
        end = _next(words, mention.end - 1, 1)
        if words[end] not in self._words.classes.prepositions:
            return end
        modifier = _next(words, end, 1)
        while words[modifier] in self._words.classes.determiners:
            modifier = _next(words, modifier, 1)
        if not self._has_content(words[modifier]):
            return end
        after = _next(words, modifier, 1)
        return after if self._separates(words[after]) else end

    def _segments(self, words: Sequence[str], place: int, step: int) -> list[_Segment]:
        """Split the list that begins at a separator, reading forwards (1) or backwards (-1)."""
        segments: list[_Segment] = []
        while len(segments) < _MOST_PARTS and self._separates(words[place]):
            is_joined, places = False, list[int]()
            while self._separates(words[place]):
                is_joined |= words[place] != _COMMA
                place = _next(words, place, step)
            while len(places) < _MOST_WORDS and self._is_word(words[place]):
                # "Of the" of "cancer of the breast and of the ovary" is not counted.
                if places or self._has_content(words[place]):
                    places.append(place)
                place = _next(words, place, step)
            if places:
                segments.append(_Segment(is_joined, places))
        return segments

    def _is_separator(self, lowered: str) -> bool:
        # spaCy leaves the numbers of "type 1/2 diabetes" in one token.
        first, slash, second = lowered.partition("/")
        are_numbers = slash and is_item_number(first) and is_item_number(second)
        return lowered in self._separators or bool(are_numbers)

    def _is_word(self, lowered: str) -> bool:
        return not self._separates(lowered) and any(map(str.isalnum, lowered))

    def _is_content(self, lowered: str) -> bool:
        # "fracture of the femur and with" would be two fractures, one of them without a location.
        return lowered not in self._small_words and self._is_word(lowered)

    def _goes_on(self, words: Sequence[str], place: int) -> bool:
        """Check whether a token is followed by the head of its phrase: "pulmonary edema and small
        effusions". Numbers and Greek letters are not ("MMP-2/-9 rose"), nor is what has a verb and
        its object after it ("knees limited her walking").
        """
        word, after, *rest = words[place : place + 3]
        is_cut = len(word) == 1 or not word.isalpha()
        is_head = after.isalpha() and after not in self._words.classes.stop_words
        return is_head and not is_cut and self._words.classes.determiners.isdisjoint(rest)


@lru_cache(MOST_READERS)
def coordination_joiner(words: Words) -> CoordinationJoiner:
    """Get what joins the coordinations of a language.

    words (Words): Reads the words of the language.
    RETURNS (CoordinationJoiner): The same object for the same words while it is kept.
    """
    return CoordinationJoiner(words)
