"""Finds the mentions of a document that cues apply to. The cues stand in the language's
`assertions.tsv`; what their scopes mean, in `lang/cues.py`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from spacy.tokens import Doc, Span

from ..documents.spans import Possibility
from ..finder.phrases import phrases_of
from ..lang.cues import (
    ADJACENT,
    ANSWER,
    BACKWARD,
    BESIDE,
    BOTH,
    BOX,
    COMMA,
    END,
    FORWARD,
    LIST,
    NEAR,
    PREDICATE,
    PRESENT,
    PSEUDO,
    SIGN,
    STATEMENT,
    WARNING,
)
from .answers import STOPS
from .cue_finder import CuePlace
from .noted_document import MODIFIERS, NotedDocument, ScopeRules, cue_tokens, has_any

NEGATED, POSSIBLE = "negated", "possible"
_QUESTION, _MINUS, _OPENING, _COMMA = "?", "-", "(", ","
_COLONS = frozenset([":", _MINUS, "–", "—", _OPENING, _QUESTION])
_BEFORE_STARTS = _COLONS | {";", ")"}
_ROUND_BRACKETS = frozenset("()")
_GRADES = ("1+", "2+", "3+", "4+")
# The most tokens between a bracket and a cue: "(10 years ago)".
_IN_BRACKETS = 6
# The most tokens between a mention and its predicate: "pain in the left leg was denied".
_POSTMODIFIER = 7


class Assertions(ScopeRules):
    """Finds mentions that cues apply to."""

    def mark(
        self, doc: Doc, spans: Sequence[Span], starts: Sequence[int]
    ) -> dict[Span, dict[str, str]]:
        """Find the mentions that cues apply to.

        doc (Doc): The document.
        spans (Sequence[Span]): Its mentions.
        starts (Sequence[int]): The first token of each of its statements.
        RETURNS (Dict[Span, Dict[str, str]]): What the text says of each mention: "negated",
            "possible", "family" or "history", with the `Possibility` of a possible mention, empty
            for others.
        """
        note = _MarkedNote(self, doc, spans, starts)
        marks: dict[Span, dict[str, str]] = {span: {} for span in spans}
        for category in self.cues.categories:
            marked = note.marked(category)
            for span in spans:
                if span.start in marked:
                    marks[span][category] = marked[span.start]
        return marks


class _MarkedNote(NotedDocument):
    """Applies the cues of a document to its mentions."""

    def marked(self, category: str) -> dict[int, str]:
        """Find the mentions to which the cues of a category apply.

        category (str): The category.
        RETURNS (Dict[int, str]): Their first tokens, with the kinds of the nearest cues.
        """
        inside = dict(self._inside(category))
        cues = self._cues(category)
        answers = {place[:2] for place in cues if place.cue.scope == ANSWER}
        cues = [place for place in cues if place.cue.scope not in (ANSWER, BOX)]
        forward = [place for place in cues if place.cue.direction in (FORWARD, BOTH)]
        backward, beside = self._bracketed(cues)
        marked, applied = self._before(beside)
        for place in forward:
            if place.cue.scope in BESIDE and place.start not in applied:
                for start in self._after(place):
                    marked.setdefault(start, place.cue.kind)
        # "Denied, cough": what applies to a mention before it does not apply to the next, nor does
        # "maternal" in "asthma in a maternal cousin, cough", or an answer without a mention: "meds:
        # nil, asthma".
        far = [
            place
            for place in forward
            if place.cue.scope not in BESIDE
            and place.start not in applied
            and (
                place[:2] not in answers or STOPS.isdisjoint(self.words[place.end : place.end + 1])
            )
        ]
        ends = [place for place in cues if place.cue.direction in (END, PRESENT)]
        if far or backward:
            for start, kind in self._reached(sorted(far), sorted(backward), ends, category):
                marked.setdefault(start, kind)
        marked |= inside
        self._answer(category, marked)
        self._share(marked)
        return marked

    def _inside(self, category: str) -> Iterator[tuple[int, str]]:
        """Find the mentions that state something, but not as a fact: "liver was not enlarged".

        YIELDS (Tuple[int, str]): Their first tokens, and the kinds of the cues in their verbs.
        """
        own = [place for place in self.places if place.cue.category == category]
        pseudo = cue_tokens(place for place in own if place.cue.direction == PSEUDO)
        for start, end, cue in own:
            if cue.direction != FORWARD or start in pseudo or self._is_said(start):
                continue
            number = bisect_left(self.sorted_mentions, start) - 1
            first = self.sorted_mentions[number] if number >= 0 else start
            if first < start and end < self.mentions[first] and self._is_in_verb(start, end):
                yield first, cue.kind

    def _is_in_verb(self, start: int, end: int) -> bool:
        """Check for auxiliaries and words that deny them."""
        auxiliaries = self.rules.classes.auxiliaries
        denials = self.rules.words.language.finder.statement_denials
        is_verb = (auxiliaries | denials).issuperset(self.words[start:end])
        return is_verb and not auxiliaries.isdisjoint(self.words[start - 1 : end + 1])

    def _answer(self, category: str, marked: dict[int, str]) -> None:
        """Mark the mentions that have answers. They are neither denied nor possible otherwise."""
        if category not in (NEGATED, POSSIBLE):
            return
        for start, place in self.answers.items():
            marked.pop(start, None)
            if place.cue.category != category or place.cue.direction == PRESENT:
                continue
            # In "cause of anemia unknown", anemia is not possible.
            if category != POSSIBLE or not self._is_of_topic(self.mentions[start]):
                marked[start] = place.cue.kind

    def _share(self, marked: dict[int, str]) -> None:
        """Mark a short form in brackets as its long form is, and the reverse."""
        for short in self.mentions:
            before = self.endings.get(short - 1)
            if before is not None and self.mentions[before] > self.mentions[short]:
                kind = marked.get(before, marked.get(short))
                if kind is not None:
                    marked[before] = marked[short] = kind

    def _cues(self, category: str) -> list[CuePlace]:
        """Find the cues of a category, without those in answers, in what only looks like one, or
        says that something is there.
        """
        own = [place for place in self.places if place.cue.category == category]
        present = list(self._present(own))
        pseudo = [place for place in own if place.cue.direction == PSEUDO]
        own = [place for place in own if not self._begins_mention(place)]
        taken = {token for place in pseudo for token in range(place.start, place.end + 1)}
        # "As needed for cough" only looks like "as": it is a cue of its own.
        starts = {place.start for place in pseudo}
        cues = [
            place
            for place in own
            if place.start not in taken or (place.cue.scope == NEAR and place.start in starts)
        ]
        taken = cue_tokens(present) | self.answered
        free = [place for place in cues if place.cue.direction == END or place.start not in taken]
        return [*free, *present]

    def _begins_mention(self, place: CuePlace) -> bool:
        """Check for a phrase that begins a name: nothing is denied in "absence of speech, fits",
        nor in "no appetite, fits", unlike "no appetite or fits".
        """
        if place.cue.direction != FORWARD:
            return False
        is_phrase = place.end - place.start > 1 and place.end < self.mentions.get(place.start, 0)
        return is_phrase or self._is_said(place.start)

    def _is_said(self, token: int) -> bool:
        """Check for a word in a mention that is an everyday phrase with a denial: "not sleeping" is
        there.
        """
        number = bisect_right(self.sorted_mentions, token) - 1
        first = self.sorted_mentions[number] if number >= 0 else token
        last = self.mentions.get(first, first)
        if token >= last or not self.rules.or_signs.isdisjoint(self.words[last : last + 1]):
            return False
        words = self.rules.words
        is_phrase = tuple(words.content(self.doc[first:last].text)) in words.everyday
        begins = first == token and self.words[first] in self.rules.classes.denying
        return (
            is_phrase
            or begins
            or any(phrases_of(words).find_denials(" ".join(self.words[first:last])))
        )

    def _present(self, places: Iterable[CuePlace]) -> Iterator[CuePlace]:
        """Find what says that something is there: phrases without a mention, perhaps only if one
        follows, and mentions with a phrase right after them or an answer.
        """
        for start, place in self.answers.items():
            if place.cue.direction == PRESENT:
                yield CuePlace(start, self.mentions[start], place.cue)
        for place in places:
            if place.cue.direction != PRESENT or place.cue.scope in (ANSWER, BOX):
                continue
            if place.cue.scope != ADJACENT:
                is_free = not has_any(self.sorted_mentions, place.start, place.end)
                is_followed = place.cue.scope != NEAR or bool(self._near(place))
                if is_free and is_followed:
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
            if place.cue.direction not in (BACKWARD, BOTH):
                continue
            start = place.start
            if place.cue.scope != STATEMENT:
                beside.append(place)
                continue
            while start > max(0, place.start - _IN_BRACKETS) and start not in self.endings:
                start -= 1
                if self.words[start] in _ROUND_BRACKETS:
                    break
            if start in self.endings and self.words[start] == _OPENING:
                beside.append(place._replace(start=start))
            else:
                far.append(place)
        return far, beside

    def _before(self, beside: Iterable[CuePlace]) -> tuple[dict[int, str], set[int]]:
        """Find the mentions right before cues, and those that "and" or "or" connects with these:
        "acne and rosacea excluded", "rash? No.", "rash -, cough +".

        RETURNS (Tuple[Dict[int, str], Set[int]]): Their first tokens, with the kinds of the cues,
            and the tokens of the cues.
        """
        marked, applied = dict[int, str](), set[int]()
        for place in beside:
            last = self._subject_end(place)
            if last < 0 or (place.cue.scope == PREDICATE and self._is_of_other(last, place)):
                continue
            if place.cue.direction != BOTH:
                applied.update(range(place.start, place.end))
            predicate = self.words[last : place.end] if place.cue.scope == PREDICATE else []
            has_plural = not self.rules.classes.plurals.isdisjoint(predicate)
            row = list(self._joined_before(last))
            if self._is_in_word(last):
                row = row[:1]
            if predicate and not has_plural:
                row = self._of_own_clause(row)
            if has_plural and len(row) > 1:
                row = list(self._joined_before(last, is_list=True))
            marked.update(dict.fromkeys(row, place.cue.kind))
        return marked, applied

    def _of_own_clause(self, row: Sequence[int]) -> list[int]:
        """Leave out the mentions of another clause: in "she has anemia, and asthma was suspected",
        only asthma is.

        row (Sequence[int]): The first tokens of mentions that are joined, the nearest first.
        RETURNS (List[int]): Those after the last comma.
        """
        others = takewhile(lambda first: self.words[self.mentions[first]] != _COMMA, row[1:])
        return [*row[:1], *others]

    def _is_in_word(self, place: int) -> bool:
        """Check for a hyphen within a word: only fits may be free in "asthma and fits-free"."""
        hyphen = self.doc[place : place + 2]
        if len(hyphen) < 2 or hyphen[0].text != _MINUS or hyphen[0].whitespace_:
            return False
        return hyphen[1].is_alpha and not self.doc[place - 1].whitespace_

    def _subject_end(self, place: CuePlace) -> int:
        """Get the token after the mention that a cue says something of; -1 if there is none."""
        start = place.start
        is_after_sign = start not in self.endings and start and self.words[start - 1] in _COLONS
        last = start - bool(is_after_sign)
        if last in self.endings or place.cue.scope != PREDICATE:
            return last if last in self.endings else -1
        # "Hepatomegaly" looks like an adverb.
        while last not in self.endings and last and self.rules.is_auxiliary(self.words[last - 1]):
            last -= 1
        has_auxiliary = last < start or self.rules.is_auxiliary(self.words[start])
        if last in self.endings or not has_auxiliary:
            return last if last in self.endings else -1
        first = max(0, last - _POSTMODIFIER)
        while last > first and last not in self.endings and self.words[last - 1].isalnum():
            last -= 1
        is_phrase = self.words[last] in self.rules.classes.postmodifiers
        return last if last in self.endings and is_phrase else -1

    def _is_of_other(self, last: int, place: CuePlace) -> bool:
        """Check whether a predicate says nothing of the mention before it: it is about the one
        after it, "the rash is likely eczema", or about a noun before that, or asks for more of what
        somebody has, "her anemia was not investigated".
        """
        if self._skip_modifiers(place.end) in self.mentions:
            return True
        before = self.words[self.endings[last] - 1] if self.endings[last] else ""
        is_owned = before in self.rules.words.classes.owners
        return (is_owned and place.cue.kind == Possibility.DIFFERENTIAL) or self._is_of_topic(last)

    def _is_of_topic(self, last: int) -> bool:
        """Check whether the predicate after a mention is about a noun before it."""
        words = self.rules.words
        place = self.endings[last] - 1
        while place > 0 and self.words[place] in words.classes.determiners:
            place -= 1
        is_of = place > 0 and self.words[place] in words.classes.prepositions
        return is_of and self.words[place - 1] in self.rules.classes.topics

    def _after(self, place: CuePlace) -> Iterable[int]:
        """Find the mentions right after a cue.

        RETURNS (Iterable[int]): Their first tokens.
        """
        rules, (start, end, cue) = self.rules, place
        if cue.scope == NEAR:
            return self._near(place)
        if cue.scope == LIST:
            return self._row(end, rules.before_listed, rules.between_listed)
        if cue.scope == SIGN:
            return self._after_sign(start, end)
        before = self._words_before(start)
        if self.words[start - 1] not in _BEFORE_STARTS and not all(map(rules.is_item_sign, before)):
            return ()
        row = list(self._row(end, rules.before_considered, rules.between_considered))
        if row and cue.scope == WARNING:
            last = self._statement_end(start)
            row += (mention for mention in self.mentions if row[0] <= mention < last)
        return row

    def _near(self, place: CuePlace) -> list[int]:
        """Find the mention after a cue and a few modifiers, and those that "or" joins with it.

        RETURNS (List[int]): Their first tokens.
        """
        return list(self._row(self._skip_modifiers(place.end), frozenset(), self.rules.or_signs))

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

    def _reached(
        self,
        far: Sequence[CuePlace],
        backward: Sequence[CuePlace],
        ends: Sequence[CuePlace],
        category: str,
    ) -> Iterator[tuple[int, str]]:
        """Find the mentions in the rest of the statement of a cue, or in the section below it, and
        those in the same one before a cue.

        YIELDS (Tuple[int, str]): Their first tokens, and the kinds of the nearest cues.
        """
        sections = self._sections(category)
        pauses = sorted(place.start for place in ends if place.cue.scope == COMMA)
        borders = {place.start for place in ends if place.cue.scope != COMMA}
        borders.update(sections, self._ending_commas(far, sections), self._ending_brackets(far))
        parts = [*sorted(borders), len(self.words)]
        stops = sorted({*self.starts, *self.commas}) if pauses else []
        firsts, lasts = [place.start for place in far], [place.start for place in backward]
        for start, end in self.mentions.items():
            part = bisect_right(parts, start)
            first, last = parts[part - 1], parts[part]
            number = bisect_right(pauses, start)
            pause = pauses[number - 1] if number else 0
            if pause > first and not has_any(stops, pause + 1, start + 1):
                first = pause
            nearest, final = bisect_left(firsts, start) - 1, bisect_left(lasts, last) - 1
            if nearest >= 0 and firsts[nearest] >= first:
                yield start, far[nearest].cue.kind
            elif final >= 0 and lasts[final] >= first and backward[final].end > end:
                yield start, backward[final].cue.kind

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
            if cue.scope != COMMA:
                reached.add(statement)
            elif statement not in reached and comma < last:
                yield comma
            if comma < last and self.words[end - 1] in self.rules.classes.negations:
                following = min(last, firsts[bisect_left(firsts, end)])
                is_before = comma < following and not has_any(self.ors, comma, following)
                if is_before and self._denies_verb(end, comma):
                    yield comma
        yield from self._commas_before_findings(far, [*starts, len(self.words)])

    def _ending_brackets(self, far: Iterable[CuePlace]) -> Iterator[int]:
        """Find the brackets that end the scope of the cues in them: "asthma (no fever), cough".

        YIELDS (int): The closing brackets.
        """
        openings = [opening for opening, _ in self.brackets]
        for place in far:
            number = bisect_left(openings, place.start) - 1
            closing = self.brackets[number][1] if number >= 0 else -1
            if closing >= place.end:
                yield closing

    def _denies_verb(self, start: int, end: int) -> bool:
        """Check whether the words between "not" and a comma name no finding nor introduce any."""
        words = self.words[start : min(end, start + MODIFIERS)]
        is_free = start < end and not has_any(self.sorted_mentions, start, end)
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
            elif has_any(self.ors, comma, last):
                continue
            elif has_any(some, first, comma + 1) and self._is_amount(comma + 1):
                yield comma
            elif has_any(nouns, first, comma + 1) and self._begins_state(comma):
                denied = self.words[nouns[bisect_right(nouns, comma) - 1]]
                if denied not in classes.denying_states:
                    yield comma

    def _is_amount(self, place: int) -> bool:
        words = self.words[place : place + 2]
        is_grade = "".join(words).startswith(_GRADES)
        return is_grade or not self.rules.classes.amounts.isdisjoint(words[:1])

    def _is_label(self, place: int) -> bool:
        """Check for the label of another field, without a mention: "no fever, social history: "."""
        for number, word in enumerate(self.words[place : place + MODIFIERS], start=place):
            if word == ":":
                return number > place
            if number in self.mentions or not (word.isalpha() or word == "/"):
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
        sections = list(self.rules.cues.find_sections(self.text, category))
        firsts, lasts = [first for first, _ in sections], [last for _, last in sections]
        return [
            start
            for start in self.starts
            if bisect_left(firsts, self.offsets[start]) == bisect_left(lasts, self.offsets[start])
        ]
