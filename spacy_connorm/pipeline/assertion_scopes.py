"""Which mentions the terms of an assertion marker apply to: those in the rest of a statement, up to
a comma, right beside them, or in the lines below a heading.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from spacy.tokens import Doc, Span, Token

from ..text.words import words_of
from .assertion_terms import (
    ADJACENT,
    ANSWERS,
    IMPERATIVES,
    PAUSES,
    QUESTION_MARK,
    SIGNS,
    UP_TO_COMMA,
    VERSUS,
    WARNINGS,
)

_EN = words_of("en")
FUNCTION_WORDS = _EN.classes.stop_words
DETERMINERS = _EN.classes.determiners
GRADES = _EN.classes.grades
PLAIN_ADJECTIVES = _EN.classes.plain_adjectives
STATES = _EN.forms.states
is_modifier = _EN.is_modifier

# The hash of its kind, its first token and the token after it.
Match = tuple[int, int, int]

_DENYING = frozenset(["nil", "no", "not", "w", "w/o", "without"])
# These deny nouns: in "no fever, anxious" and "denies fever, vomited twice" what is no noun is
# there, unless an adjective was denied, too: "denies feeling low, anxious".
_DENYING_NOUNS = (_DENYING - {"not"}) | {"denied", "denies", "denying"}
_DENYING_STATES = frozenset(["being", "feeling", "longer"])
_STATE_ENDINGS = ("al", "ed", "ic", "ive", "ous")
# "Breathless", "irritable", "dizzy", "itchy", "sleepy", but neither "epilepsy" nor "allergy".
_STATE = re.compile(
    r"\w{2,}(?:able|ful|ish|lent|less"
    r"|(?:dd|ff|gg|nn|pp|ss|tt|[kz]|[aiu]ch|tch|ws|eep|eat)y)"
)
_PLAIN_STATES = (PLAIN_ADJECTIVES | STATES.keys()) - {"cold"}
# Words that begin a finding, behind a comma after a negated one: "no wheeze, mild edema"; or one
# that is no finding, "no wheeze, normal heart sounds, edema".
_AMOUNT_WORDS = """
bilateral chronic few known large mild mildly minimal moderate multiple normal numerous occasional
ongoing persistent residual scattered several slight slightly small some stable tiny trace unchanged
"""
_AMOUNTS = frozenset(_AMOUNT_WORDS.split())
_GRADE = re.compile(r"[1-4]\+")
_OR = frozenset(["nor", "or"])
_OR_SIGNS = _OR | {"/"}
_NOT = frozenset(["declined", "n't", "n\u2019t", "never", "not", "nt"])
# "Not" and these deny what is said behind them; others only themselves, "not eating, fever",
# "declined induction, fever".
_LISTING_WORDS = """
any case complain complained complaining demonstrate describe develop developed endorse evidence
exhibit experience experienced experiencing feel find get had have having identify known mention
note noted notice report reported reporting reveal see seen show showing shown suffer suggest
suggestive
"""
_LISTING = frozenset(_LISTING_WORDS.split())
_CONJUNCTIONS = frozenset(["and", "or"])
_JOINTS = frozenset(["&", "/", *_CONJUNCTIONS])
# Between an imperative and the first of its mentions, and between these.
_BEFORE_CONSIDERED = (
    DETERMINERS | GRADES | {"also", "any", "new", "other", "possible", "underlying", "worsening"}
)
_BETWEEN_CONSIDERED = _JOINTS | VERSUS | {","}
# The same behind "mother" in "mother severe asthma, MI at 50, HTN".
_BEFORE_LISTED = GRADES | {"(", QUESTION_MARK, "also", "possible"}
_BETWEEN_LISTED = _JOINTS | {",", "+", "age", "aged", "at", *map(str, range(1, 110))}
_ITEM_SIGN = re.compile(r"\d{1,2}[.)]?|[-.)*#•–]|[Pp]lease")
# Between "mother's" or "looks like" and a mention, "severe childhood-onset"; in tokens.
_MODIFIERS = 4
_MODIFIER = re.compile(r"[a-z]+|-")
_NO_MODIFIERS = FUNCTION_WORDS - _BEFORE_CONSIDERED
_BRACKETS = frozenset("()")
_BEFORE_SIGNS = frozenset(",:;")
# The most tokens between a bracket and a phrase: "(10 years ago)".
_IN_BRACKETS = 6
_MINUS = "-"
_COLONS = frozenset([":", _MINUS, "–", "—", "(", QUESTION_MARK])
_BEFORE_IMPERATIVES = _COLONS | {";", ")"}
_STOPS = frozenset([".", ",", ";", ")", "|", "!"])
_HEADING_SIGNS = " \t\n#*_=•-:"
# What begins the next section of a note, unlike "Mother: asthma": a line that ends with a colon, or
# one of these words.
_SECTIONS = """
allerg assess course diagnos exam fh habits history hpi imag impression labs med physical plan
review ros social surg vital
"""
_NEXT_HEADING = re.compile(
    r"[^:\n]{2,60}:\s*\Z|[A-Z][A-Z /&-]{2,40}(?::|\s*\Z)|(?:[\w/&]+ )?"
    rf"(?i:{'|'.join(_SECTIONS.split())})[a-z]*(?: [\w/&]+)?:"
)


class Matches(NamedTuple):
    """The phrases that NegEx finds in a document: the hash of their kind, their first token and the
    token after them.

    before (Sequence[Tuple[int, int, int]]): Those that apply to the mentions behind them.
    behind (Sequence[Tuple[int, int, int]]): Those that apply to the mentions before them.
    ends (Sequence[Tuple[int, int, int]]): Those that end the scope of others.
    adjacent (Sequence[Tuple[int, int, int]]): Those that apply only to the mention right before
        them, besides those whose text says so.
    near (Sequence[Tuple[int, int, int]]): Those that apply only to the mention right behind them
        and its modifiers.
    listing (Sequence[Tuple[int, int, int]]): Those that apply only to the mention right behind them
        and to those listed with it.
    """

    before: Sequence[Match]
    behind: Sequence[Match]
    ends: Sequence[Match]
    adjacent: Sequence[Match] = ()
    near: Sequence[Match] = ()
    listing: Sequence[Match] = ()


def marked_spans(
    doc: Doc,
    spans: Sequence[Span],
    starts: Sequence[int],
    matches: Matches,
    headings: Collection[str],
) -> Iterator[Span]:
    """Find the mentions that phrases apply to.

    doc (Doc): The document.
    spans (Sequence[Span]): Its mentions.
    starts (Sequence[int]): The first token of each of its statements.
    matches (Matches): The phrases.
    headings (Collection[str]): Phrases in lower case that may be headings: "family history".
    YIELDS (Span): The mentions.
    """
    behind, beside = _bracketed(doc, matches.behind, spans)
    mentions = {span.start: span.end for span in spans}
    minuses = _minuses(doc, starts)
    adjacent, applied = _behind_mentions(doc, [*beside, *matches.adjacent], spans, minuses)
    signed = _behind_signs(doc, matches.before, mentions, minuses)
    considered = _behind_imperatives(doc, matches.before, mentions, starts)
    near = _behind_modifiers(doc, matches.near, mentions)
    listed = _listed(doc, matches.listing, mentions)
    # "Fever: no, cough": the answer to one does not apply to the next, nor does "maternal" in
    # "asthma in a maternal cousin, cough".
    before = sorted(
        (each for each in matches.before if each[1] not in applied and not _is_own(doc, each)),
        key=itemgetter(1),
    )
    sections = _without_sections(doc, starts, headings)
    pauses = sorted(each[1] for each in matches.ends if doc[each[1]].lower_ in PAUSES)
    ends = {each[1] for each in matches.ends}.difference(pauses)
    ends.update(_ending_commas(doc, before, sections, mentions))
    borders = [*sorted({*sections, *ends}), len(doc)]
    stops = sorted({*starts, *(token.i for token in doc if token.text == ",")}) if pauses else []
    first_tokens, last_tokens = (list(map(itemgetter(1), each)) for each in (before, behind))
    beside_it = adjacent | signed | considered | near | listed
    for span in spans:
        statement = bisect_right(borders, span.start)
        first, last = borders[statement - 1], borders[statement]
        number = bisect_right(pauses, span.start)
        pause = pauses[number - 1] if number else 0
        if pause > first and not _has_any(stops, pause + 1, span.start + 1):
            first = pause
        is_after = _has_any(first_tokens, first, span.start)
        final = bisect_left(last_tokens, last) - 1
        is_before = final >= 0 and last_tokens[final] >= first and behind[final][2] > span.end
        if is_after or is_before or span.start in beside_it:
            yield span


def _has_any(places: Sequence[int], first: int, last: int) -> bool:
    return bisect_left(places, first) < bisect_left(places, last)


def _is_sign(doc: Doc, match: Match) -> bool:
    return doc[match[1] : match[2]].text in SIGNS


def _is_own(doc: Doc, match: Match) -> bool:
    """Check for a phrase without a scope: a sign, an imperative, or the answer of a field without a
    mention, "meds: nil, asthma".
    """
    text, end = doc[match[1] : match[2]].text.lower(), match[2]
    is_answer = text in ANSWERS and end < len(doc) and doc[end].text in _STOPS
    return is_answer or _is_sign(doc, match) or text in IMPERATIVES


def _bracketed(
    doc: Doc, behind: Sequence[Match], spans: Sequence[Span]
) -> tuple[list[Match], list[Match]]:
    """Divide phrases into those that apply to all mentions before them, and those that apply only
    to the one right before them. In brackets right behind a mention, all do: "asthma, seizures
    (resolved)".

    RETURNS (Tuple[List[Tuple[int, int, int]], List[Tuple[int, int, int]]]): Both, in order.
    """
    mentions = {span.end for span in spans}
    others, beside = [], []
    for kind, start, end in sorted(behind, key=itemgetter(1)):
        if doc[start:end].text.lower() in ADJACENT:
            beside.append((kind, start, end))
            continue
        place = start
        while place > max(0, start - _IN_BRACKETS) and place not in mentions:
            place -= 1
            if doc[place].text in _BRACKETS:
                break
        if place in mentions and doc[place].text == "(":
            beside.append((kind, place, end))
        else:
            others.append((kind, start, end))
    return others, beside


def _behind_mentions(
    doc: Doc, beside: Sequence[Match], spans: Sequence[Span], minuses: Collection[int]
) -> tuple[set[int], set[int]]:
    """Find the mentions to which a phrase right behind them applies, and those that "and" or "or"
    connects with these: "acne and rosacea excluded", "rash: none", "rash? No.", "rash -, cough +".

    RETURNS (Tuple[Set[int], Set[int]]): The first tokens of the mentions, and the tokens of
        the phrases.
    """
    mentions = {span.end: span.start for span in spans}
    marked, applied = set[int](), set[int]()
    for _, start, end in beside:
        last = start - (start not in mentions and start > 0 and doc[start - 1].text in _COLONS)
        is_answer = doc[start:end].text.lower() in ANSWERS
        if last not in mentions or (is_answer and not _is_end(doc, end)):
            continue
        if doc[start].text == _MINUS and (last != start or start not in minuses):
            continue
        if doc[start].lower_ not in VERSUS:
            applied.update(range(start, end))
        first = mentions[last]
        marked.add(first)
        while first and doc[first - 1].lower_ in _CONJUNCTIONS and first - 1 in mentions:
            first = mentions[first - 1]
            marked.add(first)
    return marked, applied


def _is_end(doc: Doc, place: int) -> bool:
    return place >= len(doc) or doc[place].text in _STOPS or "\n" in doc[place].text


def _behind_signs(
    doc: Doc, before: Sequence[Match], mentions: Mapping[int, int], minuses: Collection[int]
) -> set[int]:
    """Find the mentions right behind a sign: "-fever/chills, cough", "?stroke", "?acute stroke".

    RETURNS (Set[int]): The first tokens of the mentions.
    """
    marked = set[int]()
    for match in before:
        _, start, place = match
        if not _is_sign(doc, match):
            continue
        if doc[start].text == QUESTION_MARK:
            is_meant = _is_question(doc, start)
            if not doc[start].whitespace_ or start == 0 or not doc[start - 1].is_alpha:
                place = _without_modifiers(doc, place, mentions)
        else:
            is_dash = place - start == 1 and doc[start].text == _MINUS
            is_meant = not is_dash or (start in minuses and _signs_word(doc, start))
        if is_meant and place not in marked:
            marked.update(_in_row(doc, mentions, place, (), _JOINTS))
    return marked


def _behind_imperatives(
    doc: Doc, before: Sequence[Match], mentions: Mapping[int, int], starts: Sequence[int]
) -> set[int]:
    """Find the mentions behind an imperative that begins a statement, or stands behind a dash or a
    semicolon: "1. Consider sepsis, PE or a stroke", but neither "we consider sepsis" nor "consider
    aspirin for stroke". A warning is about the rest of its statement, too.

    RETURNS (Set[int]): The first tokens of the mentions.
    """
    marked, warned = set[int](), dict[int, int]()
    for _, start, place in before:
        term, statement = doc[start:place].text.lower(), bisect_right(starts, start)
        if term in IMPERATIVES and (
            doc[start - 1].text in _BEFORE_IMPERATIVES
            or all(
                _ITEM_SIGN.fullmatch(each.text.strip())
                for each in doc[starts[statement - 1] : start]
            )
        ):
            row = [*_in_row(doc, mentions, place, _BEFORE_CONSIDERED, _BETWEEN_CONSIDERED)]
            marked.update(row)
            if row and term in WARNINGS:
                warned.setdefault(statement, row[0])
    if warned:
        numbers = ((each, bisect_right(starts, each)) for each in mentions)
        marked.update(each for each, number in numbers if each >= warned.get(number, len(doc)))
    return marked


def _behind_modifiers(doc: Doc, near: Sequence[Match], mentions: Mapping[int, int]) -> set[int]:
    """Find the mentions right behind phrases, or behind a few modifiers: "his mother's severe
    asthma".

    RETURNS (Set[int]): The first tokens of the mentions.
    """
    marked = set[int]()
    for _, _, end in near:
        first = _without_modifiers(doc, end, mentions)
        marked.update(_in_row(doc, mentions, first, (), _OR_SIGNS))
    return marked


def _listed(doc: Doc, listing: Sequence[Match], mentions: Mapping[int, int]) -> set[int]:
    """Find the mentions right behind phrases, and those in a list with them: "mother MI at 50,
    asthma", but not "mother reports fever" or "mother anxious about fever".

    RETURNS (Set[int]): The first tokens of the mentions.
    """
    marked = set[int]()
    for _, _, end in listing:
        if end not in marked:
            marked.update(_in_row(doc, mentions, end, _BEFORE_LISTED, _BETWEEN_LISTED))
    return marked


def _without_modifiers(doc: Doc, place: int, mentions: Collection[int]) -> int:
    """Get the first token of the mention at a place or behind a few modifiers."""
    words = doc[place : place + 1 + _MODIFIERS]
    return next((each.i for each in words if each.i in mentions or not _modifies(each)), place)


def _modifies(token: Token) -> bool:
    return token.lower_ not in _NO_MODIFIERS and bool(_MODIFIER.fullmatch(token.text))


def _in_row(
    doc: Doc,
    mentions: Mapping[int, int],
    place: int,
    passed: Collection[str],
    joints: Collection[str],
) -> Iterator[int]:
    """Find mentions that stand side by side, with other words before and joints between them.

    YIELDS (int): The first tokens of the mentions.
    """
    last = -1
    while place != last:
        while place < len(doc) and doc[place].lower_ in passed:
            place += 1
        if place not in mentions:
            break
        yield place
        last = place = mentions[place]
        while place < len(doc) and doc[place].lower_ in joints:
            place += 1


def _is_question(doc: Doc, place: int) -> bool:
    """Check whether a question mark is before its question and not the end of a sentence."""
    before = doc[place - 1].text_with_ws if place else " "
    return not doc[place].whitespace_ or before[-1:].isspace()


def _minuses(doc: Doc, starts: Sequence[int]) -> set[int]:
    """Find the dashes that are minuses: in statements that have a plus right before a word or a
    sign, "+cough, -fever", or in a list, "+ cough, - fever". Others belong to list items.

    RETURNS (Set[int]): Their tokens.
    """
    signs = (each.i for each in doc if each.text == "+")
    pluses = (each for each in signs if _signs_word(doc, each) or _has_any(starts, each, each + 1))
    with_plus = {bisect_right(starts, place) for place in pluses}
    dashes = (each.i for each in doc if each.text == _MINUS) if with_plus else ()
    return {place for place in dashes if bisect_right(starts, place) in with_plus}


def _signs_word(doc: Doc, place: int) -> bool:
    """Check whether a plus or minus belongs to what follows."""
    return not doc[place].whitespace_ or (place > 0 and doc[place - 1].text in _BEFORE_SIGNS)


def _ending_commas(
    doc: Doc, before: Sequence[Match], starts: Sequence[int], mentions: Mapping[int, int]
) -> Iterator[int]:
    """Find the commas that end the scope of phrases: the first one after adjectives, unless the
    scope of another phrase goes past it ("PMH: previous stroke, asthma"), the first one after "not"
    and a verb ("not eating, fever"), and those before what stands for itself.

    YIELDS (int): The commas.
    """
    commas = [token.i for token in doc if token.text == ","] if before else ()
    ors = [token.i for token in doc if token.lower_ in _OR] if commas else ()
    firsts, places = [*map(itemgetter(1), before), len(doc)], sorted(mentions)
    reached = set[int]()
    for _, start, end in before:
        statement = bisect_right(starts, start)
        last = starts[statement] if statement < len(starts) else len(doc)
        own = range(bisect_left(commas, end), bisect_left(commas, last))
        if doc[start:end].text.lower() not in UP_TO_COMMA:
            reached.add(statement)
        elif statement not in reached:
            yield from (commas[number] for number in own[:1])
        if doc[end - 1].lower_ in _NOT and own:
            comma, following = commas[own.start], firsts[bisect_left(firsts, end)]
            is_list = _has_any(ors, comma, min(last, following))
            if not is_list and _denies_verb(doc[end:comma], places):
                yield comma
    yield from _commas_before_findings(doc, before, starts, mentions, commas, ors)


def _commas_before_findings(
    doc: Doc,
    before: Sequence[Match],
    starts: Sequence[int],
    mentions: Mapping[int, int],
    commas: Sequence[int],
    ors: Sequence[int],
) -> Iterator[int]:
    """Find the commas before what is not denied with the finding before it: one with an amount, or
    said by another kind of word, unless "or" follows ("no wheeze, mild edema", but not "no wheeze,
    mild edema or cough"), and the label of another field ("PMH: asthma, social history: ...").

    YIELDS (int): The commas.
    """
    borders = [*starts, len(doc)]
    denials = sorted((end, doc[start].lower_) for _, start, end in before)
    some = [end for end, word in denials if word in _DENYING]
    nouns = [end for end, word in denials if word in _DENYING_NOUNS]
    for comma in commas:
        statement = bisect_right(starts, comma)
        first, last = borders[statement - 1], borders[statement]
        if _is_label(doc, comma + 1, mentions):
            yield comma
        elif _has_any(ors, comma, last):
            continue
        elif _has_any(some, first, comma + 1) and _is_amount(doc, comma + 1):
            yield comma
        elif _has_any(nouns, first, comma + 1) and _begins_state(doc, comma, mentions):
            last_denied = doc[nouns[bisect_right(nouns, comma) - 1]]
            if last_denied.lower_ not in _DENYING_STATES:
                yield comma


def _denies_verb(words: Span, mentions: Sequence[int]) -> bool:
    """Check whether the words between "not" and a comma name no finding nor introduce any."""
    return (
        len(words) > 0
        and not _has_any(mentions, words.start, words.end)
        and _LISTING.isdisjoint(token.lower_ for token in words[:_MODIFIERS])
    )


def _is_amount(doc: Doc, place: int) -> bool:
    words = [token.lower_ for token in doc[place : place + 2]]
    return bool(words) and (words[0] in _AMOUNTS or bool(_GRADE.match("".join(words))))


def _is_label(doc: Doc, place: int, mentions: Collection[int]) -> bool:
    """Check for the label of another field, without a mention: "no fever, social history: ..."."""
    for token in doc[place : place + _MODIFIERS]:
        if token.text == ":":
            return token.i > place
        if token.i in mentions or not (token.is_alpha or token.text == "/"):
            break
    return False


def _begins_state(doc: Doc, comma: int, mentions: Mapping[int, int]) -> bool:
    """Check whether the mention behind a comma is no noun, unlike the word before it, and does not
    belong to one: "dizzy on standing", "short of breath", but not "itchy" in "itchy eyes".
    """
    end = mentions.get(comma + 1, 0)
    if not end or _is_state(doc[comma - 1].lower_):
        return False
    words = [token.lower_ for token in doc[comma + 1 : end]]
    head = next((at for at, word in enumerate(words) if word in FUNCTION_WORDS), len(words)) - 1
    is_free = end == len(doc) or not doc[end].is_alpha or doc[end].lower_ in FUNCTION_WORDS
    return is_free and head >= 0 and _is_state(words[head])


def _is_state(word: str) -> bool:
    """Guess whether a word says how somebody is or what they did: "anxious", "vomited"."""
    is_adjective = word.endswith(_STATE_ENDINGS) and is_modifier(word)
    return is_adjective or word in _PLAIN_STATES or bool(_STATE.fullmatch(word))


def _without_sections(doc: Doc, starts: Sequence[int], headings: Collection[str]) -> list[int]:
    """Leave out the statements in the lines below a heading, so that its scope includes them. A
    section ends with an empty line and with the next heading.

    RETURNS (List[int]): The first token of each statement or section.
    """
    sections = list(_sections(doc.text, headings))
    firsts, lasts = [first for first, _ in sections], [last for _, last in sections]
    places = ((start, doc[start].idx) for start in starts)
    return [start for start, at in places if bisect_left(firsts, at) == bisect_left(lasts, at)]


def _sections(text: str, headings: Collection[str]) -> Iterator[tuple[int, int]]:
    """Find the sections below headings.

    YIELDS (Tuple[int, int]): The offsets of the heading and of the last character of the section.
    """
    at, first, has_lines = 0, -1, False
    for line in text.splitlines(keepends=True):
        words = line.strip(_HEADING_SIGNS).lower()
        is_next = _NEXT_HEADING.match(line.strip()) or (has_lines and not words)
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
