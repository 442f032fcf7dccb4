"""What the scopes of cues depend on: where the mentions of a document end with their brackets, what
answers them, and what stands beside them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from spacy.attrs import IDX, LOWER
from spacy.tokens import Doc, Span

from ..documents.token_texts import texts_of
from ..lang import Cue
from ..lang.cues import ANSWER, BOX, END
from ..text.statements import is_item_number
from ..text.words import Words
from .answers import find_answers, find_passed, find_sides, find_ticked
from .cue_finder import CueFinder, CuePlace, StatementPlace

_QUESTION, _MINUS, _PLUS, _OPENING, _COMMA, _COLON = "?", "-", "+", "(", ",", ":"
_BRACKETS = {"(": ")", "[": "]"}
_BEFORE_SIGNS = frozenset(",:;")
_JOINTS = frozenset("&/")
_AGES = frozenset(map(str, range(1, 110)))
_ITEM_SIGNS = frozenset("-.)*#•–")
# Between "mother's" or "looks like" and a mention, "severe childhood-onset"; in tokens.
MODIFIERS = 4
# The most tokens of a bracket that belongs to the mention before it: "(>38.5 on 2 days)".
_BRACKET = 10


class ScopeRules:
    """The cues of a language, and the words that their scopes depend on."""

    def __init__(self, cues: Iterable[Cue], words: Words, tokenize: Callable[[str], Doc]) -> None:
        """Compile cues.

        cues (Iterable[Cue]): The rows.
        words (Words): The words of their language.
        tokenize (Callable[[str], Doc]): Splits phrases as texts are split.
        """
        self.words = words
        self.classes = words.language.assertions
        self.cues = CueFinder(cues, words.language, tokenize)
        classes, small = self.classes, words.classes
        self.joints = _JOINTS | classes.conjunctions
        self.or_signs = classes.disjunctions | {"/"}
        self.before_considered = small.determiners | small.grades | classes.considered
        self.between_considered = self.joints | classes.contrasts | {_COMMA}
        self.before_listed = small.grades | classes.listed | {_OPENING, _QUESTION}
        self.between_listed = self.joints | classes.ages | _AGES | {_COMMA, _PLUS}
        self.no_modifiers = small.stop_words - self.before_considered
        states = small.plain_adjectives | words.forms.states.keys()
        self.plain_states = states - classes.nouns_like_states
        self.state_endings = tuple(classes.state_endings)

    def is_auxiliary(self, word: str) -> bool:
        """Check for what may stand before a predicate: an auxiliary or an adverb."""
        return word in self.classes.auxiliaries or self.cues.is_adverb(word)

    def is_item_sign(self, word: str) -> bool:
        """Check for what may stand before an imperative in its statement.

        RETURNS (bool): True for numbers and signs of list items, and "please".
        """
        sign = word.strip()
        return sign in self.classes.polite or sign in _ITEM_SIGNS or is_item_number(sign)

    def is_state(self, word: str) -> bool:
        """Guess whether a word says how somebody is or what they did: "anxious", "vomited".

        RETURNS (bool): True if it seems so.
        """
        is_plain = any(
            word.endswith(ending) and len(word) > len(ending) + 1
            for ending in self.classes.plain_state_endings
        )
        is_adjective = word.endswith(self.state_endings) and self.words.is_modifier(word)
        return is_plain or is_adjective or word in self.plain_states


class NotedDocument:
    """A document, its mentions, and what the scopes of all cues depend on."""

    def __init__(
        self, rules: ScopeRules, doc: Doc, spans: Sequence[Span], starts: Sequence[int]
    ) -> None:
        self.rules, self.doc, self.spans, self.starts = rules, doc, spans, starts
        self.text, self.words = doc.text, texts_of(doc, LOWER)
        # The first character of each token.
        self.offsets: list[int] = doc.to_array(IDX).tolist()
        self.commas = self._places_of({_COMMA})
        self.ors = self._places_of(rules.classes.disjunctions)
        self.brackets = list(self._find_brackets())
        phrases = list(rules.cues.find_phrases(self.words))
        # The first token of each mention, with the token after it and its brackets.
        self.mentions = self._extents(phrases)
        # The token after each mention, with and without its brackets, with its first token.
        self.endings = {span.end: span.start for span in spans}
        self.endings |= {end: start for start, end in self.mentions.items()}
        self.sorted_mentions = sorted(self.mentions)
        self.minuses = self._find_minuses()
        # By the first token of mentions, their answers and boxes, and the tokens of these.
        self.answers = self._find_answers(phrases)
        self.answered = cue_tokens(self.answers.values())
        patterns = rules.cues.find_patterns(doc, self.text, list(self._statements()))
        self.places = [*phrases, *patterns]

    def _extents(self, phrases: Iterable[CuePlace]) -> dict[int, int]:
        """Find where mentions end with the brackets after them, which have a short form, a value or
        a code, but no cue.

        RETURNS (Dict[int, int]): The first token of each mention, with the token after it.
        """
        cues = [
            place.start
            for place in phrases
            if place.cue.direction != END and self.words[place.start] != _MINUS
        ]
        extents = {}
        for span in self.spans:
            last = span.end
            while (after := self._after_bracket(last)) > last and not has_any(cues, last, after):
                last = after
            extents[span.start] = last
        return extents

    def _after_bracket(self, place: int) -> int:
        """Get the token after the bracket that begins at a place; the place if none does."""
        closing = _BRACKETS.get(self.words[place]) if place < len(self.words) else None
        if closing is not None:
            for end in range(place + 1, min(place + _BRACKET, len(self.words))):
                # "):" is a token of spaCy's.
                if self.words[end].startswith(closing):
                    return end + 1
        return place

    def _find_answers(self, phrases: Sequence[CuePlace]) -> dict[int, CuePlace]:
        """Find the answers and boxes that belong to mentions.

        RETURNS (Dict[int, CuePlace]): By the first token of the mention.
        """
        boxes = [place for place in phrases if place.cue.scope == BOX]
        sides = list(find_sides(self.words, boxes, self.endings))
        given = [place for place in phrases if place.cue.scope == ANSWER]
        answers, passed = find_ticked(self.words, given, sides)
        passed |= find_passed(self.words, answers, self.rules.classes.answer_labels)
        by_mention = dict(find_answers(self.words, self.mentions, answers, self.minuses, passed))
        for start, place in tuple(by_mention.items()):
            # "Nausea, vomiting: no"
            is_list = self.words[place.start] == _COLON
            for joined in self._joined_before(self.mentions[start], is_list=is_list):
                by_mention.setdefault(joined, place)
        for place, is_after in sides:
            if place.start in passed:
                continue
            if is_after:
                last = place.start - (self.words[place.start - 1] == _COLON)
                is_beside = last in self.endings
                row: Iterable[int] = self._joined_before(last) if is_beside else ()
            else:
                row = self._row(self._skip_modifiers(place.end), frozenset(), self.rules.joints)
            by_mention.update((start, place) for start in row)
        return by_mention

    def _statements(self) -> Iterator[StatementPlace]:
        """List the statements that have mentions.

        YIELDS (StatementPlace): These, in no order.
        """
        ends: dict[int, list[int]] = {}
        for span in self.spans:
            places = ends.setdefault(bisect_right(self.starts, span.start), [])
            places.append(span.start_char + len(span.text.rstrip(_PLUS)))
            if self.mentions[span.start] > span.end:
                last = self.doc[self.mentions[span.start] - 1]
                places.append(last.idx + len(last))
        for statement, places in ends.items():
            is_last = statement == len(self.starts)
            end = len(self.text) if is_last else self.offsets[self.starts[statement]]
            start = self.starts[statement - 1]
            # A question mark may be a sign of the mention after it: "dad ?stroke".
            if start and self.words[start - 1] == _QUESTION:
                start = max(0, start - 2)
            yield StatementPlace(self.offsets[start], end, tuple(places))

    def _joined_before(self, last: int, *, is_list: bool = False) -> Iterator[int]:
        """Find the mention that ends at a token, and those joined with it. In a list that begins a
        statement, commas join, too: "Fever, cough and rash were denied".

        YIELDS (int): Their first tokens.
        """
        joints = self.rules.joints
        row = [self.endings[last]]
        while row[-1] and (end := self._joint_before(row[-1], joints)) >= 0:
            row.append(self.endings[end])
        yield from row
        if is_list:
            listed = []
            first = row[-1]
            while (end := self._joint_before(first, {_COMMA})) >= 0:
                first = self.endings[end]
                listed.append(first)
            if all(word in self.rules.before_considered for word in self._words_before(first)):
                yield from listed

    def _joint_before(self, first: int, joints: Collection[str]) -> int:
        """Get the joint before a mention, with its modifiers, and after another; -1 if there is
        none.
        """
        while first and self.words[first - 1] in self.rules.before_considered.difference(joints):
            first -= 1
        is_joint = first > 0 and self.words[first - 1] in joints
        for end in (first - 1, first - 2) if is_joint else ():
            if end in self.endings and (end == first - 1 or self.words[end] == _COMMA):
                return end
        return -1

    def _statement_end(self, place: int) -> int:
        """Get the token after the statement of a token."""
        statement = bisect_right(self.starts, place)
        return self.starts[statement] if statement < len(self.starts) else len(self.words)

    def _words_before(self, place: int) -> list[str]:
        """Get the words of a statement before a token."""
        return self.words[self.starts[bisect_right(self.starts, place) - 1] : place]

    def _row(self, place: int, passed: Collection[str], joints: Collection[str]) -> Iterator[int]:
        """Find mentions that stand side by side, with other words before and joints between them.

        YIELDS (int): Their first tokens.
        """
        last = -1
        while place != last:
            place = self._skip(place, passed)
            if place not in self.mentions:
                break
            yield place
            last = self.mentions[place]
            place = self._skip(last, joints)

    def _skip(self, place: int, words: Collection[str]) -> int:
        while place < len(self.words) and self.words[place] in words:
            place += 1
        return place

    def _skip_modifiers(self, place: int) -> int:
        """Get the first token of the mention at a place or after a few modifiers."""
        for token in self.doc[place : place + 1 + MODIFIERS]:
            is_word = token.is_alpha and token.text[-1].islower()
            is_modifier = is_word and token.lower_ not in self.rules.no_modifiers
            if token.i in self.mentions or not (is_modifier or token.text == _MINUS):
                return token.i
        return place

    def _places_of(self, words: Collection[str]) -> list[int]:
        return [place for place, word in enumerate(self.words) if word in words]

    def _find_brackets(self) -> Iterator[tuple[int, int]]:
        """Find the brackets without others in them.

        YIELDS (Tuple[int, int]): Where they open and close.
        """
        opening, closing = -1, ""
        for place, word in enumerate(self.words):
            if word in _BRACKETS:
                opening, closing = place, _BRACKETS[word]
            elif opening >= 0 and word.startswith(closing):
                yield opening, place
                opening = -1

    def _find_minuses(self) -> set[int]:
        """Find the dashes that are minuses: in statements that have a plus right before a word or a
        sign, "+cough, -fever", or in a list, "+ cough, - fever". Others belong to list items.
        """
        starts = set(self.starts)
        pluses = (p for p in self._places_of({_PLUS}) if self._signs_word(p) or p in starts)
        with_plus = {bisect_right(self.starts, place) for place in pluses}
        dashes = self._places_of({_MINUS}) if with_plus else []
        return {place for place in dashes if bisect_right(self.starts, place) in with_plus}

    def _signs_word(self, place: int) -> bool:
        """Check whether a plus or minus belongs to what follows."""
        is_after_sign = place > 0 and self.words[place - 1] in _BEFORE_SIGNS
        return is_after_sign or not self.doc[place].whitespace_


def cue_tokens(places: Iterable[CuePlace]) -> set[int]:
    """List the tokens of cues.

    places (Iterable[CuePlace]): The cues.
    RETURNS (Set[int]): The numbers of all tokens in them.
    """
    return {token for place in places for token in range(place.start, place.end)}


def has_any(places: Sequence[int], first: int, last: int) -> bool:
    """Check whether any of some sorted places is within a range.

    places (Sequence[int]): The places, in order.
    first (int): The first place of the range.
    last (int): The place after the last.
    RETURNS (bool): True if so.
    """
    return bisect_left(places, first) < bisect_left(places, last)
