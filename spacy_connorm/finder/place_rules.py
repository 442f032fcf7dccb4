"""Rules by the tokens around a window."""

import re
from collections.abc import Collection, Iterator
from itertools import chain
from string import ascii_uppercase

from spacy.symbols import NOUN, PROPN
from spacy.tokens import Doc, Token

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
    doc, start, classes = window.doc, window.start, window.context.classes
    if start < 2 or doc[start - 1].text not in _HYPHENS or doc[start - 1].whitespace_:
        return False
    first = doc[start - 2]
    is_single = " " not in window.text and (start < 3 or doc[start - 3].text not in _HYPHENS)
    is_radical = any(radical in window.text for radical in classes.radicals)
    is_kind = is_single and first.text in _KINDS_BEFORE and not is_radical
    is_reordered = not window.is_derived and not window.is_in_order
    is_other = window.score < 1 or is_reordered or first.lower_ in classes.opposing_prefixes
    return (is_other or is_kind) and not first.whitespace_


def has_other_meaning(window: Window) -> bool:
    """Check for what is about a finding or only has its name ("fall precautions"), "lead" before
    "to", "confused" before "with", the chemical "retinal" before a noun, what a hyphen joins to
    what acts on it ("pain(-relieving)") or to its like ("long face(-to-face talk)"), what it is
    about where nouns stand first ("clinique de la (douleur)"), a remedy
    ("headache (pills)", "hypoglycemic (agents)"), a gene ("breast cancer (1 gene)"), and an amount
    of what is eaten ("low calcium (diet)").
    """
    classes, text, token = window.context.classes, window.text.lower(), window.after
    words, joined = window.context.words, _after_hyphen(window.doc, window.end)
    if joined is not None and joined.lower_ in words.classes.range_words:
        return True
    if window.score == 1 and text in classes.adjectives_too:
        return _is_noun(window, token)
    heads = list(_heads_after(window))
    nouns = list(map(words.orthography.drop_plurals, heads))
    if words.is_head_first and _head_before(window) in classes.about_findings:
        return True
    if not classes.other_heads.isdisjoint(nouns) or _has_beside(window, text, heads[0], "after"):
        return True
    is_drug = nouns[0] in classes.drugs or nouns[0] in classes.remedies
    if is_drug and window.is_derived:
        return _is_noun(window, token) and _after_hyphen(window.doc, window.end + 1) is None
    if words.is_head(window.parts[-1]):
        is_acted_on = any(head.endswith(tuple(classes.acting_endings)) for head in heads[:-1])
        molecules = (nouns[-1], _noun_of_disorder(window))
        is_of_molecule = not classes.molecules.isdisjoint(molecules) and not _has_numeral(window)
        is_of_molecule |= heads[0].isdigit() and heads[-1] in classes.numbered_molecules
        return is_acted_on or nouns[0] in classes.remedies or is_of_molecule
    return nouns[0] in classes.intakes and window.parts[0].lower() in words.forms.amounts


def _after_hyphen(doc: Doc, place: int) -> Token | None:
    """Get the word that a hyphen joins to what ends at a place: "assist" in "cough(-assist)"."""
    if place + 1 >= len(doc) or doc[place].text not in _HYPHENS:
        return None
    return None if doc[place - 1].whitespace_ or doc[place].whitespace_ else doc[place + 1]


def _heads_after(window: Window) -> Iterator[str]:
    """List the words after a window that may be the head of its phrase.

    YIELDS (str): Those that hyphens join to it, "mumps" and "rubella" after "measles", and the next
        word, with the one after an adjective or a number: "Wilms tumor (1 protein)". In lower case;
        empty at the end of the document.
    """
    doc, place = window.doc, window.end
    while (joined := _after_hyphen(doc, place)) is not None:
        yield joined.lower_
        place += 2
    following = [token.lower_ for token in doc[place : place + 2]] or [""]
    is_before_head = following[0].isdigit() or window.context.words.is_adjective(following[0])
    yield from following if is_before_head else following[:1]


def _head_before(window: Window) -> str:
    """Get the noun that a window belongs to where nouns stand first: "clinique" before "de la
    (douleur)".

    RETURNS (str): In lower case; empty without one.
    """
    finder, classes = window.context.classes, window.context.words.classes
    small = finder.genitives | finder.definite_articles | classes.determiners
    tokens = window.doc[max(0, window.start - _MOST_SMALL - 1) : window.start]
    before = [token.lower_ for token in tokens]
    place = next((at for at, word in enumerate(reversed(before)) if word not in small), 0)
    is_owner = place and not finder.genitives.isdisjoint(before[-place:])
    return before[-place - 1] if is_owner else ""


def _noun_of_disorder(window: Window) -> str:
    """Get the word after a disorder that is after a window: "tumor (necrosis factor)".

    RETURNS (str): In lower case; empty without such a disorder.
    """
    after = window.doc[window.end : window.end + 2]
    is_of_disorder = len(after) == 2 and window.context.words.is_head(after[0].lower_)
    return after[1].lower_ if is_of_disorder else ""


def _has_numeral(window: Window) -> bool:
    """Check for a molecule with a Roman number, which a disorder is no part of: "factor VIII"."""
    following = window.doc[window.end : window.end + 2]
    if len(following) < 2 or following[0].lower_ not in window.context.classes.molecules:
        return False
    # "IV" is a route, too.
    numeral = following[1].text
    return len(numeral) > 1 and numeral != "IV" and _NUMERALS.issuperset(numeral)


def _has_beside(window: Window, text: str, word: str, side: str) -> bool:
    """Check whether a word beside a window gives it another meaning."""
    return word in window.context.other_meanings.get((text, side), ())


def is_in_proper_name(window: Window) -> bool:
    """Check for a word inside the name of a person or a place, "Mr. (Burns)" and "(Cough) Lane", or
    in a text that does not write all words with capitals, of an organization, a trial or a scale:
    "the National (Cancer) Institute", "Glasgow (Coma) Scale".
    """
    classes, doc = window.context.classes, window.doc
    stop_words = window.context.words.classes.stop_words
    if _names_person_or_place(window, stop_words):
        return True
    if not classes.name_joiners or not all(
        _is_capitalized(token, stop_words) for token in (doc[window.start], window.after)
    ):
        return False
    first = window.start
    while first and (
        _is_capitalized(doc[first - 1], stop_words) or doc[first - 1].lower_ in classes.name_joiners
    ):
        first -= 1
    has_start = any(_is_capitalized(token, stop_words) for token in doc[first : window.start])
    is_definite = window.before is not None and window.before.lower_ in classes.definite_articles
    return (has_start or is_definite) and _is_in_plain_sentence(window, stop_words)


def _names_person_or_place(window: Window, stop_words: Collection[str]) -> bool:
    """Check for words with capitals after a title, or before the last word of an address. After an
    initial there may be a new sentence: "by Dr. P. Fever".
    """
    classes, doc = window.context.classes, window.doc
    if not all(_is_capitalized(token, stop_words) for token in doc[window.start : window.end]):
        return False
    if window.context.words.is_head_first and _head_before(window) in classes.address_words:
        return True
    after = window.after
    if after is not None and after.is_title and after.lower_ in classes.address_words:
        rest = doc[window.end + 1 : window.end + 2]
        return not any(token.is_alpha for token in rest)
    place = window.start - 1
    while place > 0 and doc[place].text == ".":
        place -= 1
    return place >= 0 and doc[place].is_title and doc[place].lower_.rstrip(".") in classes.titles


def _is_capitalized(token: Token | None, stop_words: Collection[str]) -> bool:
    """Check for a word with one capital, which is not a word of grammar."""
    if token is None or not token.is_title or len(token) < _SHORTEST_NAME:
        return False
    return token.lower_ not in stop_words


def _is_in_plain_sentence(window: Window, stop_words: Collection[str]) -> bool:
    """Check whether most words of the sentence or line around a window have no capital."""
    doc, first, last = window.doc, window.start, window.end
    while first and not _ends_sentence(doc[first - 1]):
        first -= 1
    while last < len(doc) and not _ends_sentence(doc[last]):
        last += 1
    outside = [
        token
        for token in (*doc[first : window.start], *doc[window.end + 1 : last])
        if token.is_alpha and token.lower_ not in stop_words
    ]
    return 2 * sum(token.is_lower for token in outside) >= len(outside) > 0


def _ends_sentence(token: Token) -> bool:
    return token.text in _ENDS or "\n" in token.text


def is_species(window: Window) -> bool:
    """Check for the second word of the Latin name of an organism: "Mycobacterium (tuberculosis)",
    "MYCOBACTERIUM TUBERCULOSIS", "H. (influenzae)".
    """
    genus = window.before
    if genus is None or window.end - window.start > 1:
        return False
    if _INITIAL.fullmatch(genus.text):
        return window.text.islower() and not window.is_written
    endings = tuple(window.context.classes.genus_endings)
    is_alike = window.text.islower() if genus.is_title else window.text.isupper() and genus.is_upper
    return is_alike and genus.lower_[1:].endswith(endings)


def has_other_name(window: Window) -> bool:
    """Check for a word before a single one that makes it another finding, "yellow fever", or that
    says which one is absent: "gag (reflex was absent)".
    """
    if window.before is None:
        return False
    if window.end - window.start > 1:
        return _is_absent(window) and _may_specify(window, window.before)
    return _has_beside(window, window.text.lower(), window.before.lower_, "before")


def _is_absent(window: Window) -> bool:
    """Check for a statement that something is absent."""
    denials = window.context.classes.denials
    return window.parts[-1].lower() in denials and window.parts[0].lower() not in denials


def _may_specify(window: Window, before: Token) -> bool:
    """Check for a word that may belong to the noun after it, and is neither a side nor a degree."""
    classes = window.context.words.classes
    small = classes.stop_words | classes.grades | classes.sides | window.context.classes.long_sides
    is_word = before.is_alpha and not before.text_with_ws.endswith("\n")
    return is_word and before.lower_ not in small and not _may_follow(window, before.lower_)


def is_cut(window: Window) -> bool:
    """Check whether a window ends with an adjective, and a noun follows, if it has a preposition,
    begins with an amount, or has the quality of the noun that the adjective comes from: "short
    philtral (scar)"; whether it is the subject of a statement, read as an adjective: "retinal
    neurons (are)" is not neural retina; or whether what a part shows goes on: "nose: broad (nasal
    bridge)".
    """
    words, following = window.context.words, window.after
    if words.is_head_first or window.end - window.start == 1 or following is None:
        return False
    last = window.doc[window.end - 1].lower_
    if following.lower_ in window.context.stating:
        return _lacks_noun_of_name(window, last)
    if _shows(window):
        return _goes_on(window, following)
    if not _is_noun(window, following) or not words.lacks_noun(last):
        return False
    parts = [part.lower() for part in window.parts]
    if not words.classes.prepositions.isdisjoint(parts) or parts[0] in words.forms.amounts:
        return True
    is_participle = last.endswith(tuple(words.classes.participle_endings))
    is_of_noun = window.score < 1 and not is_participle and _begins_with_quality(window)
    return is_of_noun and _may_own_organ(window, following.lower_)


def _lacks_noun_of_name(window: Window, noun: str) -> bool:
    """Check whether the names have an adjective in place of a noun."""
    words = window.context.words
    adjectives = frozenset(chain(*map(words.forms.adjectives_of, words.normalized(noun))))
    return window.is_derived and any(
        not adjectives.isdisjoint(words.content(name)) for name in window.written
    )


def _shows(window: Window) -> bool:
    """Check for a colon, as in "nose: broad", or a verb that shows something."""
    showing = window.context.showing
    return any(token.lower_ in showing for token in window.doc[window.start : window.end])


def _goes_on(window: Window, following: Token) -> bool:
    """Check whether what is shown goes on: "broad (nasal bridge)", "short(-term)", "low (to
    normal)", "pain (clinic)".
    """
    word, ranges = following.lower_, window.context.words.classes.range_words
    if word in _HYPHENS or word == _SLASH or word in ranges:
        return True
    endings = (
        *window.context.classes.acting_endings,
        *window.context.words.classes.participle_endings,
    )
    is_noun = following.is_alpha and not word.endswith(endings)
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
    last, following, words = window.doc[window.end - 1], window.after, window.context.words
    if words.is_head_first or following is None:
        return False
    if _is_of_part(window, following):
        return True
    if not (_is_noun(window, last) and _is_noun(window, following)):
        return False
    if any(words.is_adjective(token.lower_) for token in (last, following)):
        return False
    is_name = window.score == 1 and window.is_written
    is_organ = is_name or last.lower_ in phrases_of(words).organs
    if is_organ and _is_of_organ(window, last.lower_):
        return _may_own_organ(window, following.lower_)
    if is_name:
        return False
    first, second = (words.normalized(token.lower_)[-1:] for token in (last, following))
    return any(window.context.names.are_neighbours(zip(first, second, strict=False)))


def _is_of_part(window: Window, following: Token) -> bool:
    """Check for a quality of what is a part of something else: "large head of the (caudate
    nucleus)", but not "of the (baby)".
    """
    classes, determiners = window.context.classes, window.context.words.classes.determiners
    if following.lower_ not in classes.genitives:
        return False
    owner = [token.lower_ for token in window.doc[window.end + 1 : window.end + 5]]
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
    last, token, words = window.doc[window.end - 1], window.after, window.context.words
    if token is None or last.is_digit:
        return False
    if last.whitespace_:
        is_letter = token.text in _KINDS_AFTER and token.lower_ not in words.classes.sides
        return is_letter and words.is_head(last.lower_)
    joined = _after_hyphen(window.doc, window.end)
    return joined is not None and (joined.text[0].isdigit() or joined.text[0].isupper())


def cuts_list(window: Window) -> bool:
    """Check for some of the parts that slashes join: "n/v" of "n/v/d"."""
    if _SLASH not in window.text:
        return False
    return any(
        token is not None and token.text == _SLASH for token in (window.before, window.after)
    )


def _is_noun(window: Window, token: Token | None) -> bool:
    """Check whether a token is a noun, by the pipeline's tagger, or else guess: any word in lower
    case that is not a word of grammar.
    """
    if token is None or not token.is_alpha or not token.is_lower:
        return False
    if token.pos:
        return token.pos in _NOUNS
    return token.text not in window.context.words.classes.stop_words
