"""Rules by the text of a window and the names that have its words."""

import re
from collections.abc import Sequence
from itertools import groupby, product

from ..text.short_forms import is_short_form
from .known_names import KnownName
from .name_windows import PAUSES
from .phrases import DASH, Phrases, phrases_of, tokens_of
from .window import Window

# The letters and digits of a mention, at least. Two are a word or a unit more often than a name.
_LEAST_LETTERS = 3
# Windows of up to this many letters count as short forms even if a name has them in lower case.
_NEVER_WORDS = 3
# "2-3 toe syndactyly".
_RANGE = re.compile(r"\d[-\u2010-\u2013]\d")
# The number of the next list item: "Myopia\n2. (Gout)".
_NUMBER_BELOW = re.compile(r"\b(\w+)\s*\n\W*(?:\d+|[IVX]+)$")
_PAUSE = re.compile(f"([{re.escape(PAUSES)}])")
_COMMA = ","
_OPEN, _CLOSED = "()"
_PAUSES = frozenset(PAUSES)
# Between the letters and the numbers of short forms, which authors write with and without it.
_JOIN = re.compile(r"(?<=[^\W\d_])[ \u2010\u2011-](?=\d)|(?<=\d)[ \u2010\u2011-](?=[^\W\d_])")


def _phrases(window: Window) -> Phrases:
    return phrases_of(window.context.words)


def has_no_names(window: Window) -> bool:
    """Check for words that no name to be found has."""
    return not window.known


def is_stop_text(window: Window) -> bool:
    """Check for a stop text, in any spelling."""
    return not window.context.stopped.isdisjoint((window.value, window.own_value))


def has_opposite_sign(window: Window) -> bool:
    """Check for a plus where all names have a minus, or the reverse."""
    return not window.names


def is_too_short(window: Window) -> bool:
    """Check for too few letters."""
    return window.letters < _LEAST_LETTERS or not any(map(str.isalpha, window.text))


def has_other_letters(window: Window) -> bool:
    """Check for a short form that no name has with exactly these letters."""
    text, letters, names = window.text, window.letters, window.written
    # "Facial" does not come from FACE, nor "plasma as" from AS, but "myopia 1" from MYP1.
    is_plain = window.is_derived and text.replace(" ", "").isalpha()
    length = min(letters, max(map(len, names), default=0)) if is_plain else letters
    if _has_letters_of(text, names):
        return False
    are_short = all(map(is_short_form, names))
    if length > window.context.settings["short_letters"]:
        # A numbered short form does not stand for another one.
        is_numbered = is_short_form(text) and any(map(str.isdigit, text))
        return window.is_derived and are_short and is_numbered
    is_word = text in window.context.classes.short_findings
    is_tiny = letters <= _NEVER_WORDS and not (is_word or _is_inflected(text, names))
    return is_tiny or are_short


def _has_letters_of(text: str, names: Sequence[str]) -> bool:
    """Check whether a short form is written exactly like a name, but for hyphens and spaces between
    letters and numbers: "MCF7" is "MCF-7". What only the text has a space in may be a measure: "ID
    1".
    """
    if text in names:
        return True
    short = _JOIN.sub(lambda match: match[0].strip("-\u2010\u2011"), text)
    written = (_JOIN.sub(sign, name) for name in names for sign in ("", " "))
    return any(map(str.isdigit, short)) and short in written


def _is_inflected(text: str, names: Sequence[str]) -> bool:
    """Check whether a text of three letters is a word in lower case that begins a sentence ("Eye"),
    or one of four letters the plural of a word ("eyes"). "His" is not histidine.
    """
    if not text[1:].islower():
        return False
    lowered = text.lower()
    if len(text) <= _NEVER_WORDS:
        return lowered in names
    words = {name.lower() for name in names if name[1:].islower()}
    return not words.isdisjoint((lowered, lowered.removesuffix("s")))


def is_function_word(window: Window) -> bool:
    """Check for a single word of grammar."""
    text = window.text
    is_word = text.islower() or (len(text) > _NEVER_WORDS and text[1:].islower())
    if not is_word:
        return False
    return text.lower() in window.context.words.classes.stop_words


def lacks_its_noun(window: Window) -> bool:
    """Check for an adjective that has lost its noun, where nouns come first: "faciale" is not a
    facial palsy, nor is "hépatique" hepatitis. One that is said of a patient needs none
    (`place_rules.is_of_noun`).
    """
    words = window.context.words
    is_single = len(window.parts) == 1
    if not words.is_head_first or not is_single or not words.is_modifier(window.text.lower()):
        return False
    if says_state(window):
        return False
    is_name = window.score == 1 and any(map(words.is_modifier, window.written))
    return not is_name


def says_state(window: Window) -> bool:
    """Check for a word that may be said of a patient: "diabético"."""
    words = window.context.words
    return not words.forms.states.keys().isdisjoint(words.content(window.text))


def lacks_capital(window: Window) -> bool:
    """Check for a text without the capital that all names have. "Renal" does not come from the
    genus Rena.
    """
    if not window.context.settings["match_capitals"]:
        return False
    is_other = window.text.islower() or window.is_derived
    return is_other and not any(map(str.islower, window.written))


def states_no_adjective(window: Window) -> bool:
    """Check for a copula that neither states an adjective of its noun nor shows its finding."""
    phrases = _phrases(window)
    verbs = {verb for _, verb, _ in phrases.copulas(window.text)}
    if not verbs:
        return False
    if verbs <= window.context.classes.showing_verbs:
        return not (_states_adjective(window) or _shows_finding(window))
    return not _states_adjective(window) or phrases.disagrees(window.text)


def _shows_finding(window: Window) -> bool:
    """Check for a part of the body and its finding, the head of a name: "retina shows atrophy"."""
    words = window.context.words
    content = [word for word in words.content(window.text) if word not in words.copulas]
    names = [words.content(name) for name in window.written]
    if not words.is_head_first and (content in names or not window.is_derived):
        return content in names
    head = slice(1) if words.is_head_first else slice(-1, None)
    return len(content) == 2 and any(name[head] == content[-1:] for name in names)


def _states_adjective(window: Window) -> bool:
    """Check whether a text states an adjective: "the ventricle is enlarged", or what a name has
    before its noun: "long bones were slender"; after it, where nouns stand first; or what an
    everyday phrase says: "her hair is falling out".
    """
    words = window.context.words
    content = [word for word in words.content(window.text) if word not in words.copulas]
    turned = [content[place:] + content[:place] for place in range(1, len(content))]
    if words.is_head_first:
        turned.append(content)
    states = words.is_adjective if window.is_compared else words.may_be_stated
    return (
        states(window.parts[-1])
        or _said(window) in words.everyday
        or any(words.content(name) in turned for name in window.written)
    )


def _said(window: Window) -> tuple[str, ...]:
    """List the words of a window as everyday phrases have them: "took her own life" has those of
    "took own life".

    RETURNS (Tuple[str, ...]): Without copulas and owners, unless the phrase has them.
    """
    words, content = window.context.words, tuple(window.content)
    if content in words.everyday:
        return content
    small = words.copulas | words.classes.owners
    return tuple(word for word in content if word not in small)


def counts_others(window: Window) -> bool:
    """Check whether the number of a text is not a part of a name: it counts patients, or is that of
    a list item, but no name begins with it.
    """
    text, names, words = window.text, window.written, window.context.words
    if _counts(window, text) and not any(_counts(window, name) for name in names):
        return True
    if window.parts[0].isdigit():
        return all(words.normalized(name)[-1] == window.parts[0] for name in names)
    below = _NUMBER_BELOW.search(text)
    return below is not None and below[1].lower() not in words.classes.numbered


def _counts(window: Window, text: str) -> bool:
    """Check for a preposition and a number at the end: "cone-rod dystrophy in 6 patients", but not
    "fingers 3 to 5".
    """
    classes, (*_, first, joint, last) = (
        window.context.words.classes,
        ("", "", *text.lower().split()),
    )
    return last.isdigit() and joint in classes.prepositions and not first.isdigit()


def goes_across(window: Window) -> bool:
    """Check whether a text joins its words as no name does: "cancer and ovarian" is not "ovarian
    cancer", nor is "cancer, ovarian". A text is fine if it crosses no joint, if a name has a
    conjunction or a dash between numbers where it has a conjunction, and a preposition or the same
    words in this order where it has a preposition, but for a place at the end ("elevated lactate in
    CSF") and everyday phrases ("pins and needles"); across lines, if a name has all words in this
    order, since "cancer" and "breast" in a list are not "cancer of the breast".
    """
    text, names, words = window.text, window.written, window.context.words
    phrases, restored = _phrases(window), words.orthography.restore_word_order
    if phrases.goes_across_lines(text):
        # "Fracture - femur" is a femur fracture, on lines of its own.
        inverted = DASH.sub(", ", text) if window.is_alone else text
        orders = [words.normalized(form) for form in (text, _reordered(window, inverted))]
        return not any(
            words.normalized(restored(name)) in orders
            or _punctuated_words(window, text) == _punctuated_words(window, name)
            for name in names
        )
    phrase = words.everyday.get(_said(window))
    if phrase and phrases.has_conjunction(phrase) == phrases.has_conjunction(text):
        return False
    if phrases.has_conjunction(text):
        pairs_numbers = phrases.pairs_numbers(text)
        names = [
            name
            for name in names
            if phrases.has_conjunction(name) or (pairs_numbers and _RANGE.search(name))
        ]
    if not phrases.has_preposition(text) or any(map(phrases.has_preposition, names)):
        return not names
    content = window.content
    forms = [words.content(restored(name)) for name in names]
    if any(_are_related(window, form, content) for form in forms):
        return False
    # A hypotension on brain (function) is not an intracranial hypotension.
    agree = _have_order if len(content) > 2 else _are_related
    moved = [*phrases.with_moved_place(text)]
    return not any(agree(window, form, order) for form in forms for order in moved)


def _are_related(window: Window, words: Sequence[str], others: Sequence[str]) -> bool:
    """Check whether words are the same in the same order, but for adjectives of other roots."""
    roots = window.context.words.forms.roots
    return len(words) == len(others) and all(
        word == other or other in roots.get(word, ())
        for word, other in zip(words, others, strict=True)
    )


def _have_order(window: Window, words: Sequence[str], others: Sequence[str]) -> bool:
    """Check whether words that two lists share, or whose roots are the same, are in the same order,
    with other words at the same places: those that stand for each other.
    """
    roots = window.context.words.forms.roots
    shared = {
        word: other
        for word, other in product(words, others)
        if word == other or other in roots.get(word, ())
    }
    one = [shared.get(word, "") for word in words]
    two = [word if word in shared.values() else "" for word in others]
    return [word for word, _ in groupby(one)] == [word for word, _ in groupby(two)]


def denies_name(window: Window) -> bool:
    """Check for a name and a word that denies it: "seizures absent" and "absence of seizures" are
    not absence seizures, but "reflexes absent" are absent reflexes, which are no reflexes; or one
    that denies what is after it: "(speech in the absence) of fever".
    """
    denials, words = window.context.classes.denials, window.context.words
    *before, last = map(str.lower, window.parts)
    if denials.isdisjoint((*before[:1], last)):
        return False
    if window.is_written:
        return False
    is_of_others = last in denials and not words.is_quality(last)
    if is_of_others and not words.classes.prepositions.isdisjoint(before):
        return True
    left_out = denials | words.classes.copulas
    rest = " ".join(word for word in tokens_of(window.text.lower()) if word not in left_out)
    return window.context.names.has(words.bag(rest))


def is_punctuated(window: Window) -> bool:
    """Check for punctuation between the words where no name has it. On lines of its own, a text of
    three words may have the parts of a name in any order: "albinism, oculocutaneous, type IV", and
    so may what has one in brackets at its end: "nystagmus (horizontal)".
    """
    if not window.has_pause:
        return False
    is_free = (window.is_alone and len(window.content) > 2) or _ends_in_brackets(window)
    return not (window.score == 1 and is_free) and not _names_written_alike(window)


def _ends_in_brackets(window: Window) -> bool:
    """Check for brackets around a side, or around the first words of a name, which are not a name
    themselves: "frozen shoulder (R)", "nystagmus (horizontal)", but not "cell (H)".
    """
    before, bracket, aside = window.text.partition(_OPEN)
    inside = aside.removesuffix(_CLOSED)
    if inside.lower() in window.context.words.classes.sides:
        return True
    is_closed = bracket and inside != aside
    if not is_closed or len(inside) < _LEAST_LETTERS or not _PAUSES.isdisjoint(before + inside):
        return False
    content = window.context.words.content
    first, last = content(inside), content(before)
    is_name = window.context.names.has(tuple(first))
    return not is_name and any(content(name) == [*first, *last] for name in window.written)


def is_list(window: Window) -> bool:
    """Check for two items of a list. "Arthritis, rheumatoid fever" is one, "GM2 gangliosidosis,
    type 1" is not: in the train and dev texts of NCBI and BC5CDR, 11 of 12 without such a number
    were lists.
    """
    if not window.has_pause or window.is_alone:
        return False
    names = _names_written_alike(window)
    if any(name.times and name.text == window.text for name in names):
        return False
    *before, last = window.text.replace(";", _COMMA).split(_COMMA)
    if not before or any(map(str.isnumeric, window.context.words.normalized(last))):
        return False
    # "Carpal tunnel syndrome, right upper limb" is rarely a list.
    are_long = all(len(item.split()) > 1 for item in (*before, last))
    # "Flat nasal bridge, a thin lip" has another item after the comma.
    if not are_long or last.split()[0].lower() in window.context.words.classes.determiners:
        return True
    punctuated = _punctuated_words(window, window.text)
    return all(_punctuated_words(window, name.text) != punctuated for name in names)


def _names_written_alike(window: Window) -> list[KnownName]:
    """Find the names that have all words of a text in the same order, but for determiners, and the
    same punctuation between them; or else only commas, where the name's words have none or are
    inverted: "diabetes mellitus, type 2".
    """
    punctuated = _punctuated_words(window, window.text)
    plain = _without_commas(punctuated)
    reordered = _without_commas(_punctuated_words(window, _reordered(window, window.text)))
    alike = []
    for name in window.names:
        others = _punctuated_words(window, name.text)
        if others == punctuated or _without_commas(others) in (plain, reordered):
            alike.append(name)
    return alike


def _reordered(window: Window, text: str) -> str:
    """Write a text on one line, with the word order of an inverted name restored."""
    return window.context.words.orthography.restore_word_order(" ".join(text.split()))


def _without_commas(words: Sequence[str]) -> list[str]:
    return [word for word in words if word != _COMMA]


def _punctuated_words(window: Window, text: str) -> list[str]:
    """Split a text into words, brackets and other punctuation between words.

    RETURNS (List[str]): All of these but determiners and tags such as ", NOS", in order.
    """
    words = window.context.words
    parts = _PAUSE.split((words.orthography.strip_tags(text) or text).strip(" .,;"))
    return [
        word
        for place, part in enumerate(parts)
        for word in (words.normalized(part) if place % 2 == 0 else [part])
        if word not in words.classes.determiners
    ]


def is_uncertain(window: Window) -> bool:
    """Check for a text with replaced words that has a joint other than "of", "in the", or "in"
    before an organ or "exertion", begins or ends with a function word as no name does ("passes
    out"), or continues after one: "symptoms of cerebral edema".
    """
    if window.score == 1:
        return False
    words, genitives = window.context.words, window.context.classes.genitives
    parts = window.text.lower().split()
    ends_open = not words.is_head_first and words.lacks_noun(parts[-1])
    is_open = ends_open and not genitives.isdisjoint(parts)
    if is_open or _has_other_edge(window, parts):
        return True
    has_place = _has_place(window)
    return _phrases(window).has_joint(window.text, window.written, at_place=has_place)


def _has_other_edge(window: Window, parts: Sequence[str]) -> bool:
    """Check for a function word at the start or the end, where no name has it."""
    small = window.context.words.classes.stop_words
    names = [name.lower().split() for name in window.written]
    return any(
        parts[place] in small and all(name[place] != parts[place] for name in names)
        for place in (0, -1)
    )


def _has_place(window: Window) -> bool:
    """Check whether the last noun is an adjective in a name: "pain in the abdomen", but not "a
    defect in the heart" for heart disease.
    """
    last = {*window.content[-1:]}
    content = window.context.words.content
    return any(last.isdisjoint(content(name.text)) for name in window.known)
