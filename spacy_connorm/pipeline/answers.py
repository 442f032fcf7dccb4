"""Finds what answers and boxes belong to: "fever? no", "rash: +", "☒ cough". On which side of its
item a box stands is decided once for a list.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..lang.cues import PRESENT
from .cue_finder import CuePlace

_MINUS, _COLON, _SLASH, _QUESTION = "-", ":", "/", "?"
_OPENING, _CLOSING = "(", ")"
_SEPARATORS = frozenset([_COLON, _MINUS, "?", "(", "[", "–", "—", "=", "|", "\t", "…"])
# What fills a line up to its answer: "......".
_FILLERS = frozenset(".…_·")
STOPS = frozenset([".", ",", ";", ")", "]", "|", "!"])
# Between a finding and its answer, "? (".
_MOST_SEPARATORS = 2
# In the label of an item that is not a mention, "chest tightness at night?".
_LABEL = 5


def is_end(words: Sequence[str], place: int) -> bool:
    """Check whether nothing follows: a sign, the end of a line or of the text.

    words (Sequence[str]): Tokens.
    place (int): The number of one, or of the one after the last.
    RETURNS (bool): True if so.
    """
    return place >= len(words) or words[place] in STOPS or "\n" in words[place]


def find_answers(
    words: Sequence[str],
    mentions: Mapping[int, int],
    answers: Sequence[CuePlace],
    minuses: Collection[int],
    passed: Collection[int],
) -> Iterator[tuple[int, CuePlace]]:
    """Find the answers right after mentions. Nothing follows them but the next item of a list, with
    its own answer: "fever no cough yes", but not "has a fever no cough".

    words (Sequence[str]): The tokens in lower case.
    mentions (Mapping[int, int]): The first token of each mention, with the token after it.
    answers (Sequence[CuePlace]): The answers in the text.
    minuses (Collection[int]): The dashes that are minuses even without a colon or a bracket.
    passed (Collection[int]): The tokens of boxes of answers, and of answers that are not ticked.
    YIELDS (Tuple[int, CuePlace]): The first token of a mention, and its answer with the signs
        before it.
    """
    by_start = {place.start: place for place in answers}
    places = {start: _answer_at(words, end, by_start, passed) for start, end in mentions.items()}
    has_plus = any(
        place and place.cue.direction == PRESENT and not words[place.start].isalpha()
        for place in places.values()
    )
    next_item = len(words)
    for start in sorted(mentions, reverse=True):
        place, end = places[start], mentions[start]
        if place is None:
            continue
        separators = [word for word in words[end : place.start] if not word.isspace()]
        is_bare = not separators and words[place.start] == _MINUS
        if is_bare and not (has_plus or place.start in minuses):
            continue
        last = _skip(place.end, passed)
        if is_end(words, last) or _is_item(words, last, next_item, separators, by_start):
            yield start, place._replace(start=end)
            next_item = start


def _answer_at(
    words: Sequence[str], end: int, answers: Mapping[int, CuePlace], passed: Collection[int]
) -> CuePlace | None:
    """Get the answer after a mention and at most a few signs; a dash may be either."""
    last = None
    for _ in range(_MOST_SEPARATORS + 1):
        end = _skip(end, passed)
        if end >= len(words):
            break
        last = answers.get(end, last)
        is_separator = words[end] in _SEPARATORS or _is_filling(words[end])
        if not is_separator or (end in answers and words[end] != _MINUS):
            break
        end += 1
    return last


def _is_filling(word: str) -> bool:
    return word[0] in _FILLERS and len(word) > 1 and len(set(word)) == 1


def _skip(place: int, passed: Collection[int]) -> int:
    while place in passed:
        place += 1
    return place


def find_ticked(
    words: Sequence[str], answers: Sequence[CuePlace], boxes: Iterable[tuple[CuePlace, bool]]
) -> tuple[list[CuePlace], set[int]]:
    """Choose the answers that are ticked, if they have boxes: "fever: [ ] yes [x] no".

    words (Sequence[str]): The tokens in lower case.
    answers (Sequence[CuePlace]): The answers in the text.
    boxes (Iterable[Tuple[CuePlace, bool]]): The boxes, and whether they stand after their items.
    RETURNS (Tuple[List[CuePlace], Set[int]]): The answers without those that have an empty box, and
        the tokens of these and of the boxes.
    """
    chosen = {place.start: place for place in answers}
    by_end = {place.end: place for place in answers if words[place.start].isalpha()}
    by_start = {place.start: place for place in by_end.values()}
    passed = set[int]()
    for box, is_after in boxes:
        answer = by_end.get(box.start) if is_after else by_start.get(box.end)
        if answer is not None:
            passed.update(range(box.start, box.end))
            if box.cue.direction != PRESENT:
                passed.update(range(answer.start, answer.end))
                chosen.pop(answer.start, None)
    return list(chosen.values()), passed


def find_passed(
    words: Sequence[str], answers: Sequence[CuePlace], labels: Collection[str]
) -> set[int]:
    """Find what stands between items and their answers and says nothing: spaces, a choice that is
    not made, "cough (yes/no): no", and who answers, "Any cough? A: no".

    words (Sequence[str]): The tokens in lower case.
    answers (Sequence[CuePlace]): The answers in the text.
    labels (Collection[str]): Words for who answers.
    RETURNS (Set[int]): The tokens.
    """
    spaces = {place for place, word in enumerate(words) if word.isspace()}
    passed = {place for place in spaces if "\n" not in words[place]}
    by_start = {place.start: place for place in answers}
    for first in answers:
        second = by_start.get(first.end + 1)
        if second is not None and words[first.end] == _SLASH:
            start, end = first.start, second.end
            has_brackets = start > 0 and words[start - 1] == _OPENING
            if has_brackets and end < len(words) and words[end].startswith(_CLOSING):
                start, end = start - 1, end + 1
            passed.update(range(start, end))
    for place in range(2, len(words)):
        is_label = words[place - 1] in labels and words[place] == _COLON
        before = place - 2 - (place - 2 in spaces)
        if is_label and before >= 0 and words[before] == _QUESTION:
            passed.update(range(before + 1, place + 1))
    return passed


def _is_item(
    words: Sequence[str],
    place: int,
    next_item: int,
    separators: Collection[str],
    answers: Mapping[int, CuePlace],
) -> bool:
    """Check whether the next item of a list begins at a place: a mention that has an answer, or a
    few words with the same sign and an answer.
    """
    for token in range(place, min(place + _LABEL, len(words))):
        if token == next_item:
            return True
        if words[token] in separators:
            return token > place and token + 1 in answers
        if not words[token].isalpha():
            break
    return False


def find_sides(
    words: Sequence[str], boxes: Sequence[CuePlace], endings: Collection[int]
) -> Iterator[tuple[CuePlace, bool]]:
    """Decide on which side of their items boxes stand, once for all lines of a list: after them, if
    more of its lines end with a box than begin with one.

    words (Sequence[str]): The tokens in lower case.
    boxes (Sequence[CuePlace]): The boxes in the text, in order.
    endings (Collection[int]): The tokens after mentions.
    YIELDS (Tuple[CuePlace, bool]): A box, and whether it stands after its item.
    """
    breaks = [place for place, word in enumerate(words) if "\n" in word]
    lines: dict[int, list[CuePlace]] = {}
    for place in boxes:
        lines.setdefault(bisect_left(breaks, place.start), []).append(place)
    borders = [-1, *breaks, len(words)]
    group: list[CuePlace] = []
    votes = 0
    for line, places in lines.items():
        if group and line - 1 not in lines:
            yield from ((place, votes > 0) for place in group)
            group, votes = [], 0
        group += places
        votes += _vote(words, places, borders[line] + 1, borders[line + 1], endings)
    yield from ((place, votes > 0) for place in group)


def _vote(
    words: Sequence[str],
    boxes: Sequence[CuePlace],
    first: int,
    last: int,
    endings: Collection[int],
) -> int:
    """Read from a line on which side its boxes stand.

    RETURNS (int): 1 for after their items, -1 for before them, 0 if it does not say.
    """
    start, end = boxes[0].start, boxes[-1].end
    while first < start and not words[first].isalnum():
        first += 1
    has_before = first < start and words[start - 1] != _COLON
    has_after = any(word.isalnum() for word in words[end:last])
    if has_before == has_after:
        return int(start in endings or (start - 1 in endings and words[start - 1] == _COLON))
    return 1 if has_before else -1
