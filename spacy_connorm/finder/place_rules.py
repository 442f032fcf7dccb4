"""Rules by the tokens around a window."""

import re
from collections.abc import Collection, Iterator
from itertools import chain, takewhile
from string import ascii_uppercase

from spacy.symbols import NOUN, PROPN

from . import text_rules
from .phrases import phrases_of
from .window import Window

_HYPHENS = frozenset(["-", "\u2010", "\u2011"])
# "E-cadherin" is another molecule than what a name calls cadherin; but isomers are the same, as are
# sides, and the "N" of "N-acetylcysteine" only says where its acetyl is.
_KINDS_BEFORE = frozenset(ascii_uppercase).difference("DLRS")
_SLASH = "/"
# Of a genus: "E. coli".
_INITIAL = re.compile(r"[A-Z][a-z]?\.")
_NOUNS = frozenset([NOUN, PROPN])
_ENDS = frozenset([".", "!", "?", ";"])
# How far after a test its result may stand, in tokens.
_RESULT = 4
# The minimum number of letters of a word in a proper name.
_SHORTEST_NAME = 3
# The most small words between a noun and what it is of: "clinique (de la) douleur".
_MOST_SMALL = 3
_NUMERALS = frozenset("IVX")
# "C" in "hepatitis C", "CoV" and "1" after a hyphen. "N" and "Y" are answers.
_KINDS_AFTER = frozenset(ascii_uppercase).difference("AINY")


def ends_compound(window: Window) -> bool:
    """Check whether a window begins with the last part of a compound: "febrile" in "non-febrile";
    "tooth disease" in "Charcot-Marie-Tooth disease" and "neck deformity" in "swan-neck deformity",
    which no name has in this order; "cadherin" in "E-cadherin", but neither "maze test" in "T-maze
    test" nor "ATPase" in "Na-K-ATPase".
    """
    tokens, start, classes = window.tokens, window.start, window.context.classes
    are_joined = window.place.tokens.are_joined
    if start < 2 or tokens[start - 1] not in _HYPHENS or not are_joined[start - 1]:
        return False
    first = tokens[start - 2]
    is_single = " " not in window.text and (start < 3 or tokens[start - 3] not in _HYPHENS)
    is_radical = any(radical in window.text for radical in classes.radicals)
    is_kind = is_single and first in _KINDS_BEFORE and not is_radical
    is_reordered = not window.is_derived and not window.is_in_order
    is_other = window.score < 1 or is_reordered or first.lower() in classes.opposing_prefixes
    return (is_other or is_kind) and are_joined[start - 2]


def is_of_noun(window: Window) -> bool:
    """Check for an adjective that may be said of a patient, where nouns come first, after another
    noun: the "pie diabético" is not a patient.
    """
    context, before = window.context, window.before.lower()
    words = context.words
    is_modifier = len(window.parts) == 1 and words.is_modifier(window.text.lower())
    if not words.is_head_first or not is_modifier or not text_rules.says_state(window):
        return False
    classes = words.classes
    others = (
        *(classes.stop_words, classes.grades, classes.copulas, classes.qualifiers),
        *(classes.conjunctions, context.classes.people),
    )
    is_other = any(before in other for other in others)
    return before.isalpha() and not is_other and not phrases_of(words).is_adverb(before)


def has_other_meaning(window: Window) -> bool:
    """Check for what is about a finding or only has its name ("fall precautions"), "lead" before
    "to", "confused" before "with", the chemical "retinal" before a noun, what a hyphen joins to
    what acts on it ("pain(-relieving)") or to its like ("long face(-to-face talk)"), what it is
    about where nouns stand first ("clinique de la (douleur)"), a remedy
    ("headache (pills)", "hypoglycemic (agents)"), a gene ("breast cancer (1 gene)"), an amount of
    what is eaten ("low calcium (diet)"), and a time ("Usher syndrome 1 (year)").
    """
    classes, words, text = window.context.classes, window.context.words, window.text.lower()
    is_last = not window.after[:1].isalnum() and window.after not in _HYPHENS
    if is_last and not words.is_head_first:
        return False
    if _after_hyphen(window, window.end).lower() in words.classes.range_words:
        return True
    if window.score == 1 and text in classes.adjectives_too:
        return _is_noun(window, window.end)
    heads = list(_heads_after(window))
    nouns = list(map(words.orthography.drop_plurals, heads))
    if words.is_head_first and _head_before(window) in classes.about_findings:
        return True
    if not classes.other_heads.isdisjoint(nouns):
        return not _has_result(window)
    if _has_beside(window, text, heads[0], "after"):
        return True
    if window.parts[-1].isdigit() and nouns[0] in classes.time_units:
        return True
    is_drug = nouns[0] in classes.drugs or nouns[0] in classes.remedies
    if is_drug and window.is_derived:
        return _is_noun(window, window.end) and not _after_hyphen(window, window.end + 1)
    if words.is_head(window.parts[-1]):
        is_acted_on = any(head.endswith(tuple(classes.acting_endings)) for head in heads[:-1])
        molecules = (nouns[-1], _noun_of_disorder(window))
        is_of_molecule = not classes.molecules.isdisjoint(molecules) and not _has_numeral(window)
        is_of_molecule |= heads[0].isdigit() and heads[-1] in classes.numbered_molecules
        return is_acted_on or nouns[0] in classes.remedies or is_of_molecule
    return nouns[0] in classes.intakes and _begins_with_amount(window)


def _has_result(window: Window) -> bool:
    """Check for the result of a test for a finding, which states it: "(HIV) test is negative"."""
    after = window.lowered[window.end : window.end + 1 + _RESULT]
    in_sentence = takewhile(lambda token: not _ends_sentence(token), after)
    return not window.context.classes.results.isdisjoint(in_sentence)


def _begins_with_amount(window: Window) -> bool:
    """Check for "low" in "low calcium", and "decrease" in "decrease in calcium"."""
    forms = window.context.words.forms
    first = window.context.words.normalized(window.parts[0])
    return any(word in forms.amounts or word in forms.changes for word in first)


def _after_hyphen(window: Window, place: int) -> str:
    """Get the word that a hyphen joins to what ends at a place: "assist" in "cough(-assist)".

    RETURNS (str): The word; empty if there is none.
    """
    tokens, are_joined = window.tokens, window.place.tokens.are_joined
    if place + 1 >= len(tokens) or tokens[place] not in _HYPHENS:
        return ""
    return tokens[place + 1] if are_joined[place - 1] and are_joined[place] else ""


def _heads_after(window: Window) -> Iterator[str]:
    """List the words after a window that may be the head of its phrase.

    YIELDS (str): Those that hyphens join to it, "mumps" and "rubella" after "measles", and the next
        word, with the one after an adjective or a number: "Wilms tumor (1 protein)". In lower case;
        empty at the end of the document.
    """
    place = window.end
    while joined := _after_hyphen(window, place):
        yield joined.lower()
        place += 2
    following = window.lowered[place : place + 2] or [""]
    is_before_head = following[0].isdigit() or window.context.words.is_adjective(following[0])
    yield from following if is_before_head else following[:1]


def _head_before(window: Window) -> str:
    """Get the noun that a window belongs to where nouns stand first: "clinique" before "de la
    (douleur)".

    RETURNS (str): In lower case; empty without one.
    """
    finder, classes = window.context.classes, window.context.words.classes
    small = finder.genitives | finder.definite_articles | classes.determiners
    before = window.lowered[max(0, window.start - _MOST_SMALL - 1) : window.start]
    place = next((at for at, word in enumerate(reversed(before)) if word not in small), 0)
    is_owner = place and not finder.genitives.isdisjoint(before[-place:])
    return before[-place - 1] if is_owner else ""


def _noun_of_disorder(window: Window) -> str:
    """Get the word after a disorder that is after a window: "tumor (necrosis factor)".

    RETURNS (str): In lower case; empty without such a disorder.
    """
    after = window.lowered[window.end : window.end + 2]
    is_of_disorder = len(after) == 2 and window.context.words.is_head(after[0])
    return after[1] if is_of_disorder else ""


def _has_numeral(window: Window) -> bool:
    """Check for a molecule with a Roman number, which a disorder is no part of: "factor VIII"."""
    *molecule, numeral = window.tokens[window.end : window.end + 2] or [""]
    if window.context.classes.molecules.isdisjoint(map(str.lower, molecule)):
        return False
    # "IV" is a route, too.
    return len(numeral) > 1 and numeral != "IV" and _NUMERALS.issuperset(numeral)


def _has_beside(window: Window, text: str, word: str, side: str) -> bool:
    """Check whether a word beside a window gives it another meaning."""
    return word in window.context.other_meanings.get((text, side), ())


def is_in_proper_name(window: Window) -> bool:
    """Check for a word inside the name of a person or a place, "Mr. (Burns)" and "(Cough) Lane", or
    in a text that does not write all words with capitals, of an organization, a trial or a scale:
    "the National (Cancer) Institute", "Glasgow (Coma) Scale".
    """
    classes, tokens, lowered = window.context.classes, window.tokens, window.lowered
    stop_words = window.context.words.classes.stop_words
    if not _is_capitalized(tokens[window.start], stop_words):
        return False
    if _names_person_or_place(window, stop_words):
        return True
    if not classes.name_joiners or not _is_capitalized(window.after, stop_words):
        return False
    first = window.start
    while first and (
        _is_capitalized(tokens[first - 1], stop_words) or lowered[first - 1] in classes.name_joiners
    ):
        first -= 1
    has_start = any(_is_capitalized(token, stop_words) for token in tokens[first : window.start])
    is_definite = window.before.lower() in classes.definite_articles
    return (has_start or is_definite) and _is_in_plain_sentence(window, stop_words)


def _names_person_or_place(window: Window, stop_words: Collection[str]) -> bool:
    """Check for words with capitals after a title, or before the last word of an address. After an
    initial there may be a new sentence: "by Dr. P. Fever".
    """
    classes, tokens = window.context.classes, window.tokens
    if not all(_is_capitalized(token, stop_words) for token in tokens[window.start : window.end]):
        return False
    if window.context.words.is_head_first and _head_before(window) in classes.address_words:
        return True
    after = window.after
    if after.istitle() and after.lower() in classes.address_words:
        rest = tokens[window.end + 1 : window.end + 2]
        return not any(map(str.isalpha, rest))
    place = window.start - 1
    while place > 0 and tokens[place] == ".":
        place -= 1
    title = tokens[place] if place >= 0 else ""
    return title.istitle() and title.lower().rstrip(".") in classes.titles


def _is_capitalized(token: str, stop_words: Collection[str]) -> bool:
    """Check for a word with one capital, which is not a word of grammar."""
    if not token.istitle() or len(token) < _SHORTEST_NAME:
        return False
    return token.lower() not in stop_words


def _is_in_plain_sentence(window: Window, stop_words: Collection[str]) -> bool:
    """Check whether most words of the sentence or line around a window have no capital."""
    tokens, first, last = window.tokens, window.start, window.end
    while first and not _ends_sentence(tokens[first - 1]):
        first -= 1
    while last < len(tokens) and not _ends_sentence(tokens[last]):
        last += 1
    outside = [
        token
        for token in (*tokens[first : window.start], *tokens[window.end + 1 : last])
        if token.isalpha() and token.lower() not in stop_words
    ]
    return 2 * sum(map(str.islower, outside)) >= len(outside) > 0


def _ends_sentence(token: str) -> bool:
    return token in _ENDS or "\n" in token


def is_species(window: Window) -> bool:
    """Check for the second word of the Latin name of an organism: "Mycobacterium (tuberculosis)",
    "MYCOBACTERIUM TUBERCULOSIS", "H. (influenzae)".
    """
    genus = window.before
    if window.end - window.start > 1:
        return False
    if _INITIAL.fullmatch(genus):
        return window.text.islower() and not window.is_written
    endings = tuple(window.context.classes.genus_endings)
    text = window.text
    is_alike = text.islower() if genus.istitle() else text.isupper() and genus.isupper()
    return is_alike and genus.lower()[1:].endswith(endings)


def has_other_name(window: Window) -> bool:
    """Check for a word before a single one that makes it another finding, "yellow fever", or that
    says which one is absent: "gag (reflex was absent)".
    """
    if not window.before:
        return False
    if window.end - window.start > 1:
        return _is_absent(window) and _may_specify(window)
    return _has_beside(window, window.text.lower(), window.before.lower(), "before")


def _is_absent(window: Window) -> bool:
    """Check for a statement that something is absent."""
    denials = window.context.classes.denials
    return window.parts[-1].lower() in denials and window.parts[0].lower() not in denials


def _may_specify(window: Window) -> bool:
    """Check for a word before a window that may belong to its noun, and is neither a side nor a
    degree.
    """
    classes, before = window.context.words.classes, window.before.lower()
    small = classes.stop_words | classes.grades | classes.sides | window.context.classes.long_sides
    return before.isalpha() and before not in small and not _may_follow(window, before)


def is_cut(window: Window) -> bool:
    """Check whether a window ends with an adjective, and a noun follows, if it has a preposition,
    begins with an amount, or has the quality of the noun that the adjective comes from: "short
    philtral (scar)"; whether it is the subject of a statement, read as an adjective: "retinal
    neurons (are)" is not neural retina; or whether what a part shows goes on: "nose: broad (nasal
    bridge)".
    """
    words, following = window.context.words, window.after.lower()
    if words.is_head_first or window.end - window.start == 1 or not following:
        return False
    last = window.lowered[window.end - 1]
    if following in window.context.stating:
        # "Infarction of the myocardium (was found)" is a myocardial infarction.
        return _lacks_noun_of_name(window, last) and not _has_preposition(window)
    if _shows(window):
        return _goes_on(window, following)
    if not _is_noun(window, window.end) or not words.lacks_noun(last):
        return False
    if _has_preposition(window) or window.parts[0].lower() in words.forms.amounts:
        return True
    is_participle = last.endswith(tuple(words.classes.participle_endings))
    is_of_noun = window.score < 1 and not is_participle and _begins_with_quality(window)
    return is_of_noun and _may_own_organ(window, following)


def _has_preposition(window: Window) -> bool:
    return not window.context.words.classes.prepositions.isdisjoint(map(str.lower, window.parts))


def _lacks_noun_of_name(window: Window, noun: str) -> bool:
    """Check whether the names have an adjective in place of a noun."""
    words = window.context.words
    adjectives = frozenset(chain(*map(words.forms.adjectives_of, words.normalized(noun))))
    return window.is_derived and any(
        not adjectives.isdisjoint(words.content(name)) for name in window.written
    )


def _shows(window: Window) -> bool:
    """Check for a colon, as in "nose: broad", or a verb that shows something."""
    return not window.context.showing.isdisjoint(window.lowered[window.start : window.end])


def _goes_on(window: Window, word: str) -> bool:
    """Check whether what is shown goes on: "broad (nasal bridge)", "short(-term)", "low (to
    normal)", "pain (clinic)".
    """
    ranges = window.context.words.classes.range_words
    if word in _HYPHENS or word == _SLASH or word in ranges:
        return True
    endings = (
        *window.context.classes.acting_endings,
        *window.context.words.classes.participle_endings,
    )
    is_noun = word.isalpha() and not word.endswith(endings)
    return is_noun and not _may_follow(window, word)


def _may_follow(window: Window, word: str) -> bool:
    """Check for a word that no adjective before it modifies: "and", "today", "posteriorly"."""
    words, classes = window.context.words, window.context.classes
    is_small = word in words.classes.stop_words or word in classes.after_findings
    return is_small or phrases_of(words).is_adverb(word)


def modifies_noun(window: Window) -> bool:
    """Check whether the last word only modifies the noun after it, so that the window is not what
    the text speaks of: "hypoplastic ear (lobe)", "small kidney (stone)". A name as it is written
    stands before other nouns, too, "heart failure (clinic)", unless it is a quality of an organ.
    For all others, the ontology's own names tell: they have both words side by side.
    """
    last, following, words = window.tokens[window.end - 1], window.after, window.context.words
    if words.is_head_first or not following:
        return False
    if _is_of_part(window):
        return True
    if not (_is_noun(window, window.end - 1) and _is_noun(window, window.end)):
        return False
    if any(map(words.is_adjective, (last, following))):
        return False
    is_name = window.score == 1 and window.is_written
    is_organ = is_name or last in phrases_of(words).organs
    if is_organ and _is_of_organ(window, last):
        return _may_own_organ(window, following)
    if is_name:
        return False
    first, second = (words.normalized(token)[-1:] for token in (last, following))
    return any(window.context.names.are_neighbours(zip(first, second, strict=False)))


def _is_of_part(window: Window) -> bool:
    """Check for a quality of what is a part of something else: "large head of the (caudate
    nucleus)", but not "of the (baby)".
    """
    classes, determiners = window.context.classes, window.context.words.classes.determiners
    if window.after.lower() not in classes.genitives:
        return False
    owner = window.lowered[window.end + 1 : window.end + 5]
    if not determiners.intersection(owner[:1]):
        return False
    last = window.parts[-1].lower()
    is_part = last in classes.parts_of_things and _is_of_organ(window, last)
    return is_part and classes.people.isdisjoint(owner)


def _is_of_organ(window: Window, last: str) -> bool:
    """Check for a quality of an organ, which is named in the singular: "small kidney"."""
    words = window.context.words
    is_plural = words.orthography.singular(last) != last
    if len(window.parts) == 1 or is_plural or words.is_head(last):
        return False
    return _begins_with_quality(window)


def _begins_with_quality(window: Window) -> bool:
    """Check for a plain adjective, an amount or a participle as the first word."""
    words, first = window.context.words, window.parts[0].lower()
    return words.is_quality(first) or first in words.forms.amounts


def _may_own_organ(window: Window, word: str) -> bool:
    """Guess whether a word is neither a verb nor an adverb, a patient or a disease: patients and
    syndromes may be named after a small kidney. What looks like a plural that names do not have may
    be a verb: "short stature persists".
    """
    classes, words = window.context.classes, window.context.words.classes
    endings = words.verb_endings | words.participle_endings | classes.adverb_endings
    others = (classes.people, classes.person_diseases, classes.after_findings)
    if any(word in other for other in others) or word.endswith(tuple(endings)):
        return False
    known = map(window.context.names.has_word, window.context.words.normalized(word))
    return not word.endswith(tuple(classes.statement_endings)) or any(known)


def lacks_kind(window: Window) -> bool:
    """Check for a letter or a number after a window that belongs to the name: "hepatitis (C)",
    "SARS(-CoV-2)", "HIV(-1)". A capital "A" or "I" may be a word, and "L" or "R" a side.
    """
    last, token, words = window.tokens[window.end - 1], window.after, window.context.words
    if last.isdigit():
        return False
    if not window.place.tokens.are_joined[window.end - 1]:
        is_letter = token in _KINDS_AFTER and token.lower() not in words.classes.sides
        return is_letter and words.is_head(last.lower())
    first = _after_hyphen(window, window.end)[:1]
    return first.isdigit() or first.isupper()


def cuts_list(window: Window) -> bool:
    """Check for some of the parts that slashes join: "n/v" of "n/v/d"."""
    return _SLASH in window.text and _SLASH in (window.before, window.after)


def _is_noun(window: Window, place: int) -> bool:
    """Check whether the token at a place, if there is one, is a noun, by the pipeline's tagger, or
    else guess: any word in lower case that is not a word of grammar.
    """
    token = window.tokens[place] if place < len(window.tokens) else ""
    if not token.isalpha() or not token.islower():
        return False
    if window.place.is_tagged and (pos := window.place.doc[place].pos):
        return pos in _NOUNS
    return token not in window.context.words.classes.stop_words
