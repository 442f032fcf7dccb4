"""Finds the cues of a language in a document, and the mentions that they apply to. The cues stand
in the language's `assertions.tsv`; what their scopes mean, in `lang/cues.py`.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ..lang import Cue
from ..lang.cues import is_pattern, phrases, regular_expression, resolve
from ..text.words import Words

_FORWARD, _BACKWARD, _BOTH = "forward", "backward", "both"
_END, _PRESENT, _PSEUDO = "end", "present", "pseudo"
_STATEMENT, _COMMA, _ADJACENT, _ANSWER = "statement", "comma", "adjacent", "answer"
_SIGN, _NEAR, _LIST, _START, _WARNING = "sign", "near", "list", "start", "warning"
# These have no scope of their own in the rest of a statement.
_BESIDE = frozenset([_SIGN, _NEAR, _LIST, _START, _WARNING])
_QUESTION, _MINUS, _PLUS, _OPENING = "?", "-", "+", "("
_BRACKETS = frozenset("()")
_COLONS = frozenset([":", _MINUS, "–", "—", _OPENING, _QUESTION])
_BEFORE_STARTS = _COLONS | {";", ")"}
_BEFORE_SIGNS = frozenset(",:;")
_STOPS = frozenset([".", ",", ";", ")", "|", "!"])
_JOINTS = frozenset("&/")
_AGES = frozenset(map(str, range(1, 110)))
_ITEM_SIGN = re.compile(r"\d{1,2}[.)]?|[-.)*#•–]")
_MODIFIER = re.compile(r"[a-z]+|-")
_GRADE = re.compile(r"[1-4]\+")
_HEADING_SIGNS = " \t\n#*_=•-:"
# What begins the next section of a note, unlike "Mother: asthma".
_NEXT_HEADING = (
    r"[^:\n]{{2,60}}:\s*\Z|[A-Z][A-Z /&-]{{2,40}}(?::|\s*\Z)"
    r"|(?:[\w/&]+ )?(?i:{})[a-z]*(?: [\w/&]+)?:"
)
# Between "mother's" or "looks like" and a mention, "severe childhood-onset"; in tokens.
_MODIFIERS = 4
# The most tokens between a bracket and a cue: "(10 years ago)".
_IN_BRACKETS = 6


class CuePlace(NamedTuple):
    """A cue in a document: its first token, the token after it, and the cue."""

    start: int
    end: int
    cue: Cue


class _Pattern(NamedTuple):
    """The patterns of one kind of cue.

    cue (Cue): Any of them, since they have the same category, direction and scope.
    regex (Pattern): All of them; the group "pseudo" has those that only look like it.
    """

    cue: Cue
    regex: re.Pattern[str]


class Assertions:
    """Finds mentions that cues apply to."""

    def __init__(self, cues: Iterable[Cue], words: Words, tokenize: Callable[[str], Doc]) -> None:
        """Compile cues.

        cues (Iterable[Cue]): The rows.
        words (Words): The words of their language.
        tokenize (Callable[[str], Doc]): Splits phrases as texts are split.
        """
        self.words = words
        self.classes = words.language.assertions
        self.cues = tuple(cues)
        self.categories = tuple(dict.fromkeys(cue.category for cue in self.cues))
        self.headings: dict[str, set[str]] = defaultdict(set)
        # By the words of phrases, one after the other; None has the cues that end there.
        self._phrases: dict[Any, Any] = {}
        texts: dict[Cue, list[str]] = defaultdict(list)
        for cue in self.cues:
            text = resolve(cue.text, words.language.cue_parts)
            if is_pattern(text):
                texts[cue._replace(text="")].append(regular_expression(text))
                continue
            for phrase in phrases(text):
                self._add_phrase([token.lower_ for token in tokenize(phrase)], cue)
                if cue.direction == _FORWARD and cue.scope not in _BESIDE:
                    self.headings[cue.category].add(phrase.removesuffix(":"))
        self.patterns = [
            _Pattern(cue, _compile(texts[cue], texts.get(_only_like(cue), [])))
            for cue in tuple(texts)
            if cue.direction != _PSEUDO
        ]
        starts = "|".join(sorted(self.classes.section_starts)) or r"\b\B"
        self._next_heading = re.compile(_NEXT_HEADING.format(starts))
        self._make_joints()

    def _add_phrase(self, tokens: Sequence[str], cue: Cue) -> None:
        node = self._phrases
        for token in tokens:
            node = node.setdefault(token, {})
        node.setdefault(None, []).append(cue)

    def _make_joints(self) -> None:
        classes, words = self.classes, self.words.classes
        self.joints = _JOINTS | classes.conjunctions
        self.or_signs = classes.disjunctions | {"/"}
        self.before_considered = words.determiners | words.grades | classes.considered
        self.between_considered = self.joints | classes.contrasts | {","}
        self.before_listed = words.grades | classes.listed | {_OPENING, _QUESTION}
        self.between_listed = self.joints | classes.ages | _AGES | {",", _PLUS}
        self.no_modifiers = words.stop_words - self.before_considered
        states = words.plain_adjectives | self.words.forms.states.keys()
        self.plain_states = states - classes.nouns_like_states
        self.state_endings = tuple(classes.state_endings)

    def find_phrases(self, words: Sequence[str]) -> Iterator[CuePlace]:
        """Find the cues that are phrases.

        words (Sequence[str]): The tokens of a document in lower case.
        YIELDS (CuePlace): The cues, in order.
        """
        for start in range(len(words)):
            node, end = self._phrases.get(words[start]), start + 1
            while node is not None:
                for cue in node.get(None, ()):
                    yield CuePlace(start, end, cue)
                node = node.get(words[end]) if end < len(words) else None
                end += 1

    def mark(
        self, doc: Doc, spans: Sequence[Span], starts: Sequence[int]
    ) -> Iterator[tuple[str, Span]]:
        """Find the mentions that cues apply to.

        doc (Doc): The document.
        spans (Sequence[Span]): Its mentions.
        starts (Sequence[int]): The first token of each of its statements.
        YIELDS (Tuple[str, Span]): A category, and a mention that belongs to it.
        """
        note = _Note(self, doc, spans, starts)
        places = list(self.find_phrases(note.words))
        for category in self.categories:
            own = [place for place in places if place.cue.category == category]
            marked = note.marked(category, own)
            yield from ((category, span) for span in spans if span.start in marked)

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

    def is_item_sign(self, word: str) -> bool:
        """Check for what may stand before an imperative in its statement.

        RETURNS (bool): True for numbers and signs of list items, and "please".
        """
        sign = word.strip()
        return sign in self.classes.polite or bool(_ITEM_SIGN.fullmatch(sign))

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


def _only_like(cue: Cue) -> Cue:
    """Get what patterns that only look like those of a cue have in common."""
    reaches_far = cue.direction == _FORWARD and cue.scope not in _BESIDE
    return Cue("", cue.category if reaches_far else "", _PSEUDO, "")


def _compile(texts: Iterable[str], pseudo: Sequence[str]) -> re.Pattern[str]:
    first = f"(?P<pseudo>{'|'.join(pseudo)})|" if pseudo else ""
    return re.compile(first + "|".join(texts), re.IGNORECASE)


class _Note:
    """A document, its mentions, and what the scopes of all cues depend on."""

    def __init__(
        self, rules: Assertions, doc: Doc, spans: Sequence[Span], starts: Sequence[int]
    ) -> None:
        self.rules, self.doc, self.spans, self.starts = rules, doc, spans, starts
        self.text = doc.text
        self.words = [token.lower_ for token in doc]
        # The first token of each mention, with the token after it, and the reverse.
        self.mentions = {span.start: span.end for span in spans}
        self.endings = {span.end: span.start for span in spans}
        self.sorted_mentions = sorted(self.mentions)
        self.commas = self._places_of({","})
        self.ors = self._places_of(rules.classes.disjunctions)
        self.borders = {doc[start].idx for start in starts}
        self.minuses = self._find_minuses()

    def marked(self, category: str, phrases: Sequence[CuePlace]) -> set[int]:
        """Find the mentions to which the cues of a category apply.

        category (str): The category.
        phrases (Sequence[CuePlace]): Its cues that are phrases.
        RETURNS (Set[int]): Their first tokens.
        """
        places = self._cues(category, phrases)
        forward = [place for place in places if place.cue.direction in (_FORWARD, _BOTH)]
        backward, beside = self._bracketed(places)
        marked, applied = self._before(beside)
        for place in forward:
            if place.cue.scope in _BESIDE:
                marked.update(self._after(place))
        answers = {place[:2] for place in places if place.cue.scope == _ANSWER}
        # "Fever: no, cough": the answer to one does not apply to the next, nor does "maternal" in
        # "asthma in a maternal cousin, cough", or an answer without a mention: "meds: nil, asthma".
        far = [
            place
            for place in forward
            if place.cue.scope not in _BESIDE
            and place.start not in applied
            and (place[:2] not in answers or not self._is_stop(place.end))
        ]
        ends = [place for place in places if place.cue.direction in (_END, _PRESENT)]
        marked.update(self._reached(sorted(far), sorted(backward), ends, category))
        return marked

    def _cues(self, category: str, phrases: Sequence[CuePlace]) -> list[CuePlace]:
        """Find the cues of a category, without those in what only looks like one or says that
        something is there.
        """
        patterns = (pattern for pattern in self.rules.patterns if pattern.cue.category == category)
        matches = [place for pattern in patterns for place in self._matches(pattern)]
        present = list(self._present(place for place in (*phrases, *matches)))
        pseudo = (place for place in phrases if place.cue.direction == _PSEUDO)
        taken = {token for place in pseudo for token in range(place.start, place.end + 1)}
        cues = [place for place in phrases if place.cue.scope == _NEAR or place.start not in taken]
        taken = {token for place in present for token in range(place.start, place.end)}
        return [
            *(place for place in cues if place.cue.direction == _END or place.start not in taken),
            *(place for place in matches if place.cue.direction != _PRESENT),
            *present,
        ]

    def _matches(self, pattern: _Pattern) -> Iterator[CuePlace]:
        """Find patterns within a statement: anywhere, or right after mentions."""
        if pattern.cue.scope != _ADJACENT:
            matches = pattern.regex.finditer(self.text)
        else:
            ends = (span.end_char - _pluses(span.text) for span in self.spans)
            matches = filter(None, (pattern.regex.match(self.text, end) for end in ends))
        for match in matches:
            inside = range(match.start() + 1, match.end())
            if not match.groupdict().get("pseudo") and self.borders.isdisjoint(inside):
                place = match.span(match.lastindex or 0)
                span = self.doc.char_span(*place, alignment_mode="expand")
                if span is not None:
                    yield CuePlace(span.start, span.end, pattern.cue)

    def _present(self, places: Iterable[CuePlace]) -> Iterator[CuePlace]:
        """Find what says that something is there: phrases without a mention, and mentions with a
        phrase right after them.
        """
        for place in places:
            if place.cue.direction != _PRESENT:
                continue
            if place.cue.scope != _ADJACENT:
                if not _has_any(self.sorted_mentions, place.start, place.end):
                    yield place
                continue
            # A plus may belong to the last token of the mention.
            ending = place.start if place.start in self.endings else place.end
            if ending in self.endings:
                yield CuePlace(self.endings[ending], ending, place.cue)

    # Scopes

    def _bracketed(self, places: Iterable[CuePlace]) -> tuple[list[CuePlace], list[CuePlace]]:
        """Divide backward cues into those that apply to all mentions before them, and those that
        apply only to the one right before them. In brackets right after a mention, all do:
        "asthma, seizures (resolved)".
        """
        far, beside = [], []
        for place in places:
            if place.cue.direction not in (_BACKWARD, _BOTH):
                continue
            start = place.start
            if place.cue.scope != _STATEMENT:
                beside.append(place)
                continue
            while start > max(0, place.start - _IN_BRACKETS) and start not in self.endings:
                start -= 1
                if self.words[start] in _BRACKETS:
                    break
            if start in self.endings and self.words[start] == _OPENING:
                beside.append(place._replace(start=start))
            else:
                far.append(place)
        return far, beside

    def _before(self, beside: Iterable[CuePlace]) -> tuple[set[int], set[int]]:
        """Find the mentions right before cues, and those that "and" or "or" connects with these:
        "acne and rosacea excluded", "rash: none", "rash? No.", "rash -, cough +".

        RETURNS (Tuple[Set[int], Set[int]]): Their first tokens, and the tokens of the cues.
        """
        marked, applied = set[int](), set[int]()
        conjunctions = self.rules.classes.conjunctions
        for start, end, cue in beside:
            has_colon = start not in self.endings and start and self.words[start - 1] in _COLONS
            last = start - bool(has_colon)
            is_minus = last == start and start in self.minuses
            if (
                last not in self.endings
                or (cue.scope == _ANSWER and not self._is_end(end))
                or (self.words[start] == _MINUS and not is_minus)
            ):
                continue
            if cue.direction != _BOTH:
                applied.update(range(start, end))
            first = self.endings[last]
            marked.add(first)
            while first and self.words[first - 1] in conjunctions and first - 1 in self.endings:
                first = self.endings[first - 1]
                marked.add(first)
        return marked, applied

    def _after(self, place: CuePlace) -> Iterable[int]:
        """Find the mentions right after a cue.

        RETURNS (Iterable[int]): Their first tokens.
        """
        rules, (start, end, cue) = self.rules, place
        if cue.scope == _NEAR:
            return self._row(self._skip_modifiers(end), frozenset(), rules.or_signs)
        if cue.scope == _LIST:
            return self._row(end, rules.before_listed, rules.between_listed)
        if cue.scope == _SIGN:
            return self._after_sign(start, end)
        statement = bisect_right(self.starts, start)
        before = self.words[self.starts[statement - 1] : start]
        if self.words[start - 1] not in _BEFORE_STARTS and not all(map(rules.is_item_sign, before)):
            return ()
        row = list(self._row(end, rules.before_considered, rules.between_considered))
        if row and cue.scope == _WARNING:
            last = self.starts[statement] if statement < len(self.starts) else len(self.words)
            row += (mention for mention in self.mentions if row[0] <= mention < last)
        return row

    def _after_sign(self, start: int, end: int) -> Iterable[int]:
        """Find the mentions right after a sign: "-fever/chills, cough", "?acute stroke"."""
        token = self.doc[start]
        if self.words[start] == _QUESTION:
            before = self.doc[start - 1].text_with_ws if start else " "
            # Else it is the end of a sentence.
            is_meant = not token.whitespace_ or before[-1:].isspace()
            if not token.whitespace_ or start == 0 or not self.doc[start - 1].is_alpha:
                end = self._skip_modifiers(end)
        else:
            is_dash = end - start == 1 and self.words[start] == _MINUS
            is_meant = not is_dash or (start in self.minuses and self._signs_word(start))
        return self._row(end, frozenset(), self.rules.joints) if is_meant else ()

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
        for token in self.doc[place : place + 1 + _MODIFIERS]:
            is_modifier = _MODIFIER.fullmatch(token.text) and (
                token.lower_ not in self.rules.no_modifiers
            )
            if token.i in self.mentions or not is_modifier:
                return token.i
        return place

    def _reached(
        self,
        far: Sequence[CuePlace],
        backward: Sequence[CuePlace],
        ends: Sequence[CuePlace],
        category: str,
    ) -> Iterator[int]:
        """Find the mentions in the rest of the statement of a cue, or in the section below it, and
        those in the same one before a cue.

        YIELDS (int): Their first tokens.
        """
        sections = self._sections(category)
        pauses = sorted(place.start for place in ends if place.cue.scope == _COMMA)
        borders = {place.start for place in ends if place.cue.scope != _COMMA}
        borders.update(sections, self._ending_commas(far, sections))
        parts = [*sorted(borders), len(self.words)]
        stops = sorted({*self.starts, *self.commas}) if pauses else []
        firsts, lasts = [place.start for place in far], [place.start for place in backward]
        for start, end in self.mentions.items():
            part = bisect_right(parts, start)
            first, last = parts[part - 1], parts[part]
            number = bisect_right(pauses, start)
            pause = pauses[number - 1] if number else 0
            if pause > first and not _has_any(stops, pause + 1, start + 1):
                first = pause
            final = bisect_left(lasts, last) - 1
            is_before = final >= 0 and lasts[final] >= first and backward[final].end > end
            if is_before or _has_any(firsts, first, start):
                yield start

    def _ending_commas(self, far: Sequence[CuePlace], starts: Sequence[int]) -> Iterator[int]:
        """Find the commas that end the scope of cues: the first one after some cues, unless the
        scope of another one goes past it ("PMH: previous stroke, asthma"), the first one after
        "not" and a verb ("not eating, fever"), and those before what stands for itself.

        YIELDS (int): The commas.
        """
        if not far:
            return
        firsts, reached = [*(place.start for place in far), len(self.words)], set[int]()
        for start, end, cue in far:
            statement = bisect_right(starts, start)
            last = starts[statement] if statement < len(starts) else len(self.words)
            number = bisect_left(self.commas, end)
            comma = self.commas[number] if number < len(self.commas) else last
            if cue.scope != _COMMA:
                reached.add(statement)
            elif statement not in reached and comma < last:
                yield comma
            if comma < last and self.words[end - 1] in self.rules.classes.negations:
                following = min(last, firsts[bisect_left(firsts, end)])
                if not _has_any(self.ors, comma, following) and self._denies_verb(end, comma):
                    yield comma
        yield from self._commas_before_findings(far, [*starts, len(self.words)])

    def _denies_verb(self, start: int, end: int) -> bool:
        """Check whether the words between "not" and a comma name no finding nor introduce any."""
        words = self.words[start : min(end, start + _MODIFIERS)]
        is_free = start < end and not _has_any(self.sorted_mentions, start, end)
        return is_free and self.rules.classes.listing.isdisjoint(words)

    def _commas_before_findings(
        self, far: Sequence[CuePlace], borders: Sequence[int]
    ) -> Iterator[int]:
        """Find the commas before what is not denied with the finding before it: one with an amount,
        or said by another kind of word, unless "or" follows ("no wheeze, mild edema", but not "no
        wheeze, mild edema or cough"), and the label of another field ("PMH: asthma, social history:
        ...").

        YIELDS (int): The commas.
        """
        classes = self.rules.classes
        denials = sorted((place.end, self.words[place.start]) for place in far)
        some = [end for end, word in denials if word in classes.denying]
        nouns = [end for end, word in denials if word in classes.denying_nouns]
        for comma in self.commas:
            statement = bisect_right(borders, comma)
            first, last = borders[statement - 1], borders[statement]
            if self._is_label(comma + 1):
                yield comma
            elif _has_any(self.ors, comma, last):
                continue
            elif _has_any(some, first, comma + 1) and self._is_amount(comma + 1):
                yield comma
            elif _has_any(nouns, first, comma + 1) and self._begins_state(comma):
                denied = self.words[nouns[bisect_right(nouns, comma) - 1]]
                if denied not in classes.denying_states:
                    yield comma

    def _is_amount(self, place: int) -> bool:
        words = self.words[place : place + 2]
        is_grade = bool(_GRADE.match("".join(words)))
        return is_grade or not self.rules.classes.amounts.isdisjoint(words[:1])

    def _is_label(self, place: int) -> bool:
        """Check for the label of another field, without a mention: "no fever, social history: "."""
        for token in self.doc[place : place + _MODIFIERS]:
            if token.text == ":":
                return token.i > place
            if token.i in self.mentions or not (token.is_alpha or token.text == "/"):
                break
        return False

    def _begins_state(self, comma: int) -> bool:
        """Check whether the mention after a comma is not a noun, unlike the word before it, and
        does not belong to one: "dizzy on standing", "short of breath", but not "itchy" in "itchy
        eyes".
        """
        end, is_state = self.mentions.get(comma + 1, 0), self.rules.is_state
        if not end or is_state(self.words[comma - 1]):
            return False
        stop_words = self.rules.words.classes.stop_words
        head = [*takewhile(lambda word: word not in stop_words, self.words[comma + 1 : end])][-1:]
        is_free = (
            end == len(self.doc) or not self.doc[end].is_alpha or self.words[end] in stop_words
        )
        return is_free and any(map(is_state, head))

    def _sections(self, category: str) -> list[int]:
        """Leave out the statements in the lines below a heading, so that its scope includes them. A
        section ends with an empty line and with the next heading.

        RETURNS (List[int]): The first token of each statement or section.
        """
        sections = list(self.rules.find_sections(self.text, category))
        firsts, lasts = [first for first, _ in sections], [last for _, last in sections]
        return [
            start
            for start in self.starts
            if bisect_left(firsts, self.doc[start].idx) == bisect_left(lasts, self.doc[start].idx)
        ]

    def _places_of(self, words: Collection[str]) -> list[int]:
        return [place for place, word in enumerate(self.words) if word in words]

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

    def _is_stop(self, place: int) -> bool:
        return place < len(self.words) and self.words[place] in _STOPS

    def _is_end(self, place: int) -> bool:
        return place >= len(self.words) or self._is_stop(place) or "\n" in self.words[place]


def _has_any(places: Sequence[int], first: int, last: int) -> bool:
    return bisect_left(places, first) < bisect_left(places, last)


def _pluses(text: str) -> int:
    return len(text) - len(text.rstrip(_PLUS))
