"""Rules for windows that have the words of a name but are not mentions: stop texts, short forms in
other letters, words in another order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ..index.cache import Cache
from ..text.bag_hashes import hash_bag
from ..text.cleaning import are_opposite, has_sign
from ..text.words import words_of
from .known_names import KnownName
from .name_windows import PAUSES

_EN = words_of("en")
restore_word_order = _EN.orthography.restore_word_order
strip_tags = _EN.orthography.strip_tags
FUNCTION_WORDS = _EN.classes.stop_words
STOP_WORDS = _EN.classes.function_words
content_words = _EN.content
normalized_words = _EN.normalized
word_bag = _EN.bag
COPULAS = _EN.classes.copulas
DETERMINERS = _EN.classes.determiners
NUMBERED = "|".join(sorted(_EN.classes.numbered))
OTHER_ROOTS = _EN.forms.roots
OWNERS = _EN.classes.owners
PLAIN_ADJECTIVES = _EN.classes.plain_adjectives
PREPOSITIONS = _EN.classes.prepositions
SIDES = _EN.classes.sides
is_adjective = _EN.is_adjective
is_head = _EN.is_head
lacks_noun = _EN.lacks_noun

_CACHED = 100_000
_CONJUNCTION = re.compile(r"(?i)\b(and|or)\b|[&/]")
# "infarction with pulmonary embolism", but not "pain in the chest", nor "anemia due to blood loss".
_JOINING = "|".join(sorted(PREPOSITIONS & STOP_WORDS - {"of"}))
_ARTICLES = "|".join(sorted(DETERMINERS))
_OWNED = "|".join(sorted(OWNERS | {"the"}))
_PREPOSITION = re.compile(rf"(?i)\b(?<!\bdue )({_JOINING})\b(?!\s+({_ARTICLES})\b)")
_HYPHENATED = re.compile(r"(?<![^\W_])([^\W\d_]{2,30})-([^\W\d_]{2,30})(?![^\W_])")
_DASH = re.compile("[-\u2010-\u2013]")
# "2 myopia (patients)", and the number of the next list item: "Myopia\n2. (Gout)".
_NUMERAL = r"(?:\d+|[IVX]+)"
_NUMBER_FIRST = re.compile(rf"{_NUMERAL}\s")
_NUMBER_BELOW = re.compile(rf"\b(?!(?i:{NUMBERED})\s)\w+\s*\n\W*{_NUMERAL}$")
# "Cone-rod dystrophy in 6 patients".
_COUNTED = re.compile(r"(?i)\b(for|from|in|of|on|to|with)\s+\d+$")
# Separators of lines and list items. A line that breaks before or after "of" continues.
_BORDER = re.compile(r"\n|\s[-–—#*•]\s")
_PAUSE = re.compile(f"([{re.escape(PAUSES)}])")
_JOINT = re.compile(r"(?i)\b(and|or|by|due|for|in|on|to|with|from|between|into)\b|[&/]")
# Nouns that have one of these adjectives: most are organs.
_NOUNS = frozenset(chain.from_iterable(OTHER_ROOTS.values()))
# "Pain in the abdomen" and "pain in abdomen" are abdominal pain.
_IN_PLACE = re.compile(rf"(?i)\b(in|on)\s+(?=(?:{_OWNED})\b|(?:{'|'.join(sorted(_NOUNS))})$)")
# "Pain in knees", "pain in chest"; but diseases in humans are no human diseases.
_PARTS = "|".join((*sorted(_NOUNS), r"[^\W_]*(?:[^\W_su]s|feet|teeth)"))
_IN_PARTS = re.compile(rf"(?i)(?!dis(?:ease|order)s?\b)[^\W_]+\s+(?:in|on)\s+(?:{_PARTS})")
_OWNED_BY = re.compile(r"(?i)\b(in|of|on)\b")
# "The ventricle is enlarged". In capitals, these are short forms.
_COPULA = re.compile(rf"\b({'|'.join(sorted(COPULAS))})\b")
# "Fabry disease is an X-linked disease".
_DEFINING = re.compile(rf"\b({'|'.join(sorted(COPULAS))})\s+(a|an|the)\b", re.IGNORECASE)
# "Morphology of the cells is abnormal".
_DISAGREEING = re.compile(r"(?<![isu])s\s+(?:is|was)\b")
# Verbs, which names begin or end with only in capitals: "BE cell".
_AUXILIARIES = """
be been being can could did do does had has have may might must shall should will would
"""
_VERBS = frozenset(_AUXILIARIES.split())
# Stop words but those that name places.
_NEVER_NAMES = FUNCTION_WORDS - {"back", "bottom", "front", "part", "side", "top"}
_CAUSES = frozenset(["biochemical", "genetic", "molecular"])
_DISEASES = frozenset(["disease", "diseases", "disorder", "disorders"])
# "The ears are low-set".
_WORD_BREAK = re.compile(r"[\s\u2010\u2011-]")
# Words that reverse the order of a name: "abnormality of the skin" is "skin abnormality".
_REORDERING = re.compile(rf"{_JOINT.pattern}|\bof\b|,")
_COMMA = ","
_ITEMS = re.compile("[,;]")
_SEVERAL_WORDS = re.compile(r"\S\s+\S")
_QUALIFIES = re.compile(rf"{_SEVERAL_WORDS.pattern}|\Bing$")
_SMALL = "|".join(sorted(STOP_WORDS))
_WRAP = re.compile(rf"(?i)\b({_SMALL})\s*\n|\n\s*({_SMALL})\b")
# Windows of up to this many letters count as short forms even if a name has them in lower case.
_NEVER_WORDS = 3
# Between the letters and the numbers of short forms, which authors write with and without it.
_JOIN = re.compile(r"(?<=[^\W\d_])[ \u2010\u2011-](?=\d)|(?<=\d)[ \u2010\u2011-](?=[^\W\d_])")
_WHOLE_WORD = re.compile(r"(?<![^\W_])[^\W\d_][a-z]{3,}(?![^\W_])")
# Letters and numbers that distinguish kinds, on either side of a name: "beta-thalassemia".
_GREEK = frozenset(["alpha", "beta", "gamma", "delta", "epsilon", "kappa", "lambda", "omega"])
# Short forms with a number and so many characters are no words in any case: "mcr1", not "p53".
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_].*[^\W\d_])[^\W_]{4,}")
# But these are other things: "beta-2", "min-1", "CCl4".
_NO_CODE = re.compile(
    rf"(?:{'|'.join(sorted(_GREEK))}|day|hour|min|mol|sec|week|year)\d"
    r"|(?=.*[a-z])(?:[A-Z][a-z]?\d*){2,}$"
)

# Why a window is not a mention.
STOPPED = "it is a stop text"
TOO_SHORT = "it has too few letters"
FUNCTION_WORD = "it is a function word, such as 'more'"
COUNT = (
    "its number counts something else: 'dystrophy in 6 (patients)', '2 myopia (patients)', or is "
    "that of the next list item"
)
ADJECTIVE = "it is an adjective, not the singular of a name such as 'blues'"
OTHER_LETTERS = "it is short, and no name has exactly these letters"
NO_CAPITAL = (
    "all names with these words have capitals, and it has none, it only derives from them, or the "
    "document mostly has it without (`match_capitals`)"
)
ACROSS = (
    "its words are on both sides of 'and', 'or', a preposition or a line break, and no name joins "
    "them like this or has them in this order"
)
REVERSED = "it has the two words of a name in reverse: a bone collar is not a collar bone"
CUT_NAME = "it cuts the last word off a name: 'Wilms (tumor of the kidney)' is no renal tumor"
STATED = "it has a verb, and no adjective that fits it: 'the ventricle is enlarged'"
VERB = "it begins or ends with a verb"
PUNCTUATED = "no name has its words in this order with this punctuation"
SIDE_LAST = "no name ends with its side: 'heart murmur L (apex)'"
LISTED = (
    "it may be two items of a list: a name with a comma is found on a line of its own, if a number "
    "follows the comma, if it has several words on both sides, or if annotated documents have it "
    "exactly so"
)
OPPOSITE = "it has a minus where the names have a plus, or the reverse"
UNCERTAIN = "it has other words than a name, and function words that do not belong to a name"
NOT_ALLOWED = (
    "its names were removed, are inexact synonyms (`inexact_names`), or are of types or branches "
    "that the normalizer leaves out"
)


@dataclass(frozen=True)
class NameRules:
    """Decides by the text of a window and, for a name with a comma, by whether it has its lines to
    itself.

    min_letters (int): Shorter windows are not mentions.
    short_letters (int): Windows up to this length must be written exactly like a name, if all names
        with their words are short forms ("WAS", "ALL") or if they have three letters or fewer.
    stop_texts (Sequence[str]): Texts that are never mentions, in any spelling.
    match_capitals (bool): Whether windows in lower case are mentions only if a name is, too.
    """

    min_letters: int
    short_letters: int
    stop_texts: Sequence[str]
    match_capitals: bool
    _reasons: Cache[tuple[int, str, bool, bool], str] = field(
        default_factory=lambda: Cache(_CACHED), repr=False, compare=False
    )

    @cached_property
    def _stopped(self) -> frozenset[int]:
        return frozenset(map(hash_bag, map(word_bag, self.stop_texts)))

    def reason(
        self,
        value: int,
        letters: int,
        text: str,
        names: Sequence[KnownName],
        *,
        has_pause: bool = False,
        is_alone: bool = True,
    ) -> str:
        """Explain why a window is not a mention.

        value (int): The hash of the words of the names; those of the window may be derived from
            them.
        letters (int): The number of letters and digits in its words.
        text (str): The window as written.
        names (Sequence[KnownName]): The names with these words.
        has_pause (bool): Whether there is punctuation between its words.
        is_alone (bool): Whether it has its lines to itself.
        RETURNS (str): The reason; empty for a mention.
        """
        key = value, text, has_pause, is_alone
        known = self._reasons.get(key)
        if known is None:
            known = self._reason(value, letters, text, names)
            if has_pause and not known:
                known = _punctuation_reason(text, names, is_alone=is_alone)
            self._reasons.put(key, known)
        return known

    def _reason(self, value: int, letters: int, text: str, names: Sequence[KnownName]) -> str:
        if not names:
            return NOT_ALLOWED
        own = {value, hash_bag(word_bag(text))}
        if not own.isdisjoint(self._stopped):
            return STOPPED
        if has_sign(text):
            names = [name for name in names if not are_opposite(text, name.text)]
            if not names:
                return OPPOSITE
        written = [name.text for name in names]
        if _is_annotated(text, names):
            return ""
        if letters < self.min_letters or not any(map(str.isalpha, text)):
            return TOO_SHORT
        is_derived = len(own) > 1
        # "Facial" does not come from FACE, but "myopia 1" from MYP1.
        is_single = is_derived and text.isalpha()
        length = min(letters, max(map(len, written))) if is_single else letters
        if length <= self.short_letters and not _has_letters_of(text, written):
            only_short_forms = all(map(is_short_form, written))
            if only_short_forms or (letters <= _NEVER_WORDS and not _is_inflected(text, written)):
                return OTHER_LETTERS
        if reason := _word_reason(text, written, is_derived=is_derived):
            return reason
        # "Renal" does not come from the genus Rena.
        is_other = text.islower() or is_derived
        if self.match_capitals and is_other and not any(map(str.islower, written)):
            return NO_CAPITAL
        words = _WORD_BREAK.split(text)
        if not _VERBS.isdisjoint((words[0], words[-1])) and text not in written:
            return VERB
        is_stated = _COPULA.search(text) and not _states_adjective(text, written)
        if is_stated or _DISAGREEING.search(text) or _DEFINING.search(text):
            return STATED
        if _counts(text, written):
            return COUNT
        if not _is_in_order(text, written):
            return ACROSS
        if is_derived and words[-1].lower() in SIDES and not _have_last_word(text, written):
            return SIDE_LAST
        if "-" in text:
            written = [name for name in written if not _has_reversed_pair(text, name)]
        is_reversed = _is_crosswise if is_derived else _is_reversed
        return REVERSED if not written or is_reversed(text, written) else ""


def _has_letters_of(text: str, names: Sequence[str]) -> bool:
    """Check whether a short form is written exactly like a name, but for hyphens and spaces between
    letters and numbers ("MCF7" is "MCF-7"), and, with a number, for capitals ("qnrS1"). What only
    the text has a space in may be a measure: "ID 1".
    """
    if text in names:
        return True
    joined = [_JOIN.sub("", name) for name in names]
    own = _JOIN.sub(lambda match: match[0].strip("-\u2010\u2011"), text)
    if own in joined or own in (_JOIN.sub(" ", name) for name in names):
        return any(map(str.isdigit, own))
    is_code = _CODE.fullmatch(own) and not _NO_CODE.match(own)
    return bool(is_code) and own.lower() in map(str.lower, joined)


def _word_reason(text: str, names: Sequence[str], *, is_derived: bool) -> str:
    """Explain why a single word of English is not a mention.

    RETURNS (str): The reason; empty if it may be a mention.
    """
    lowered = text.lower()
    is_word = text.islower() or (len(text) > _NEVER_WORDS and text[1:].islower())
    if is_word and lowered in _NEVER_NAMES:
        return FUNCTION_WORD
    if lowered in PLAIN_ADJECTIVES and not is_derived and lowered not in map(str.lower, names):
        return ADJECTIVE
    return ""


def _have_last_word(text: str, names: Sequence[str]) -> bool:
    """Check whether a name has the last word of a text."""
    last = normalized_words(text)[-1]
    return any(last in normalized_words(name) for name in names)


def _counts(text: str, names: Sequence[str]) -> bool:
    """Check whether the number of a text is no part of a name: it counts patients, or is that of a
    list item, but no name begins with it.
    """
    if _COUNTED.search(text) and not any(map(_COUNTED.search, names)):
        return True
    if _NUMBER_FIRST.match(text):
        first = normalized_words(text)[0]
        return all(normalized_words(name)[-1] == first for name in names)
    return bool(_NUMBER_BELOW.search(text))


def uncertain_reason(text: str, names: Sequence[KnownName]) -> str:
    """Explain why a text with replaced words is not a mention: it has a joint other than "of", "in
    the", or "in" before an organ or "exertion", begins or ends with a function word, or continues
    after one: "symptoms of cerebral edema". Nor is a disease a sign: "Wilson's disease" is not
    Wilson's sign.

    text (str): The text.
    names (Sequence[KnownName]): The names with the words that it may stand for.
    RETURNS (str): The reason; empty if it may be a mention.
    """
    words = text.lower().split()
    is_open = "of" in words and lacks_noun(words[-1])
    # The molar tooth sign is no sign of a tooth, nor a genetic lesion a hereditary disease, nor a
    # scopolamine-induced impairment a drug-induced abnormality.
    is_caused = words[0] in _CAUSES or "".join(words[-2:-1]).endswith("induced")
    is_cause = is_caused and words[-1] not in _DISEASES
    is_edged = not FUNCTION_WORDS.isdisjoint((words[0], words[-1]))
    is_sign = words[-1] == "sign" or all(each.text.lower().endswith(" sign") for each in names)
    is_joined = _JOINT.search(_without_place(text, names))
    return UNCERTAIN if is_open or is_cause or is_edged or is_sign or is_joined else ""


def _without_place(text: str, names: Sequence[KnownName]) -> str:
    """Leave out "in the" and "in" before a noun that is an adjective in the name: "pain in the
    abdomen", but not "a defect in the heart" for heart disease.
    """
    last = {*content_words(text)[-1:]}
    is_adjective = any(last.isdisjoint(content_words(each.text)) for each in names)
    return _IN_PLACE.sub("", text) if is_adjective else text


def _punctuation_reason(text: str, names: Sequence[KnownName], *, is_alone: bool) -> str:
    """Explain why a text with punctuation between its words is not a mention. "Arthritis,
    rheumatoid fever" is a list, "GM2 gangliosidosis, type 1" is not: in the train and dev texts of
    NCBI and BC5CDR, 11 of 12 without such a number were lists.

    text (str): The text.
    names (Sequence[KnownName]): The names with its words.
    is_alone (bool): Whether it has its lines to itself.
    RETURNS (str): The reason; empty for a mention.
    """
    names = [each for each in names if _are_written_alike(text, each.text)]
    if not names:
        return PUNCTUATED
    *before, last = _ITEMS.split(text)
    is_item = before and not any(map(str.isnumeric, normalized_words(last)))
    # "Flat nasal bridge, a thin lip" has another item behind the comma.
    is_other = last.split()[0].lower() in DETERMINERS
    is_qualified = all(map(_SEVERAL_WORDS.search, before)) and _QUALIFIES.search(last)
    if is_item and is_qualified and not is_other:
        # "Carpal tunnel syndrome, right upper limb" is rarely a list, nor is "squamous cell
        # carcinoma, keratinizing".
        words = _punctuated_words(text)
        is_item = all(_punctuated_words(each.text) != words for each in names)
    return LISTED if is_item and not is_alone and not _is_annotated(text, names) else ""


def _is_annotated(text: str, names: Sequence[KnownName]) -> bool:
    """Check whether D has a text in exactly this form."""
    return any(name.times and name.text == text for name in names)


def _are_written_alike(text: str, name: str) -> bool:
    """Check whether a text has all words of a name in the same order, but for determiners, and the
    same punctuation between them; or else only commas, where the name's words have none or are
    inverted: "diabetes mellitus, type 2".
    """
    if _punctuated_words(text) == _punctuated_words(name):
        return True
    return _without_commas(name) in (_without_commas(text), _without_commas(_reordered(text)))


def _reordered(text: str) -> str:
    """Write a text on one line, with the word order of an inverted name restored."""
    return restore_word_order(" ".join(text.split()))


def _without_commas(text: str) -> list[str]:
    return [each for each in _punctuated_words(text) if each != _COMMA]


def _punctuated_words(text: str) -> list[str]:
    """Split a text into words, brackets and other punctuation between words.

    RETURNS (List[str]): All of these but determiners and tags such as ", NOS", in order.
    """
    parts = _PAUSE.split((strip_tags(text) or text).strip(" .,;"))
    return [
        each
        for place, part in enumerate(parts)
        for each in (normalized_words(part) if place % 2 == 0 else [part])
        if each not in DETERMINERS
    ]


def _is_in_order(text: str, names: Sequence[str]) -> bool:
    """Check whether a text joins its words as a name does: "cancer and ovarian" is not "ovarian
    cancer", nor is "cancer, ovarian".

    text (str): The text.
    names (Sequence[str]): The names with its words.
    RETURNS (bool): True if it crosses no joint, if a name has a conjunction where it has one, or a
        dash between the same words, and a preposition or the same words in this order where it has
        a preposition, but for "in" before an organ or several parts of the body; across lines, all
        words, since "cancer" and "breast" in a list are not "cancer of the breast".
    """
    if _BORDER.search(_WRAP.sub(" ", text)):
        orders = [normalized_words(each) for each in (text, _reordered(text))]
        return any(
            normalized_words(restore_word_order(name)) in orders
            or _punctuated_words(text) == _punctuated_words(name)
            for name in names
        )
    words = content_words(text)
    if _CONJUNCTION.search(text):
        names = [
            name
            for name in names
            if _CONJUNCTION.search(name) or (_DASH.search(name) and content_words(name) == words)
        ]
    if not _PREPOSITION.search(text) or any(map(_PREPOSITION.search, names)):
        return bool(names)
    orders = [words, words[::-1]] if _IN_PARTS.fullmatch(text) else [words]
    return any(
        _are_related(content_words(restore_word_order(name)), order)
        for name in names
        for order in orders
    )


def _are_related(words: Sequence[str], others: Sequence[str]) -> bool:
    """Check whether words are the same in the same order, but for adjectives of other roots."""
    return len(words) == len(others) and all(
        word == other or other in OTHER_ROOTS.get(word, ())
        for word, other in zip(words, others, strict=True)
    )


def _is_reversed(text: str, names: Sequence[str]) -> bool:
    """Check whether a text has the two words of all names in reverse, without a word such as "of"
    in the text or the names that would explain it. Participles and plain adjectives may
    come last ("testes undescended", "reflexes brisk"), all adjectives first ("oral mucositis",
    MedDRA's "mucositis oral"), and numbers and letters on either side ("B hepatitis").
    """
    words = content_words(text)
    if len(words) != 2 or words[0] == words[1]:
        return False
    if any(map(_is_quality, words)) or lacks_noun(words[0]):
        return False
    if any(len(word) < _NEVER_WORDS + 1 or word in _GREEK for word in words):
        return False
    return not any(map(_REORDERING.search, (text, *names))) and all(
        content_words(name) == words[::-1] for name in names
    )


def _states_adjective(text: str, names: Sequence[str]) -> bool:
    """Check whether a text states an adjective: "the ventricle is enlarged", or, with the two words
    of a name, any that the name has before its noun: "her gait was unsteady".
    """
    words = content_words(_COPULA.sub("", text))
    is_two = len(words) == 2 and any(content_words(name) == words[::-1] for name in names)
    return is_two or is_adjective(_WORD_BREAK.split(text)[-1])


def _is_crosswise(text: str, names: Sequence[str]) -> bool:
    """Check whether a text has the two parts of the body of all names, the other one as an
    adjective: a renal pelvis is no pelvic kidney. The atrophy in "renal atrophy" is no part.
    """
    words = content_words(text)
    if len(words) != 2:
        return False
    owner, head = reversed(words) if _OWNED_BY.search(text) else words
    organs = {owner, *OTHER_ROOTS.get(owner, ())}
    if organs.isdisjoint(_NOUNS) or is_head(head):
        return False
    return not any(map(_REORDERING.search, names)) and all(
        len(own) == 2 and own[1] in organs and not _is_quality(own[0])
        for own in map(content_words, names)
    )


def _is_quality(word: str) -> bool:
    """Check for a participle or an adjective that is no part of the body: "enlarged", "dry"."""
    return word.endswith("ed") or word in PLAIN_ADJECTIVES


def _has_reversed_pair(text: str, name: str) -> bool:
    """Check whether a name joins two words by a hyphen in the other order: a rod-cone dystrophy is
    no cone-rod dystrophy.
    """
    pairs = {(one.lower(), other.lower()) for one, other in _HYPHENATED.findall(text)}
    return any((other.lower(), one.lower()) in pairs for one, other in _HYPHENATED.findall(name))


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


def is_short_form(text: str) -> bool:
    """Check whether a text has two capitals or digits, as in "ALL" and "Ca2", and no whole word, as
    in "L-Dopa".
    """
    signs = sum(letter.isupper() or letter.isdigit() for letter in text)
    return signs > 1 and not _WHOLE_WORD.search(text)
