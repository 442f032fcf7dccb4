"""Ways to write a name that make no difference: the tags of terminologies, inverted word order,
spelling, plurals, possessives. Words are compared without them; texts are shown and encoded as
written.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from ..lang import NEVER, LanguageData, any_of, longest_first
from .cleaning import lower_in_place
from .short_forms import NUMBER, drop_plural

_MOST_COMMAS = 2
_COMMA = ", "
_START, _END = "^", "$"
# Shorter words have one spelling. No word has more letters than the longest; a run of thousands of
# "a" would take seconds.
_SHORTEST_SPELLED, _LONGEST = 4, 60
_WORD = re.compile("[A-Za-z]+")
# A word that may be a compound, and the lengths of the part before its head.
_LETTERS = re.compile(r"(?<![^\W_])[^\W\d_]{4,}(?![^\W_])")
_SHORTEST_PART, _LONGEST_PART = 3, 30
_SHORTEST_PLURAL = 4
_APOSTROPHE = "'"
_KINDS_OF_PLURALS = ("word", "certain ending", "ending")
_CACHED = 16_384


class Orthography:
    """Undoes the ways to write a name in one language, from a cleaned text to another."""

    def __init__(self, language: LanguageData) -> None:
        """Compile the tables of a language.

        language (LanguageData): The language.
        """
        words = language.words
        self._tags = words.semantic_tags
        self._tag_endings = tuple(sorted(words.tag_endings))
        self._tag_beginnings = tuple(sorted(words.tag_beginnings))
        # The endings of texts that may end in a tag.
        self._last_letters = (" ", ",", ")", ">", *self._tag_endings)
        self._stays = _compile(
            rf"^{any_of(words.staying_starts)}\b",
            rf"\b{any_of(words.staying_ends)}$",
            rf"\b{any_of(words.staying_words)}\b",
        )
        self._spellings = {
            part.strip(_START + _END): spelling for part, spelling in language.spellings.items()
        }
        self._misspelled = re.compile(
            "|".join(map(_part, longest_first(language.spellings))) or NEVER
        )
        rows: dict[str, dict[str, str]] = {kind: {} for kind in _KINDS_OF_PLURALS}
        for row in language.plurals:
            rows[row.kind][row.plural] = row.singular
        self._irregular, self._certain_endings, self._other_endings = rows.values()
        self._language = language
        self._inflected_endings = tuple(sorted(words.inflected_endings))
        all_endings = words.inflected_endings.union(self._certain_endings, self._other_endings)
        self._inflected = _compile(
            rf"(?<![^\W_])[^\W\d_]*{any_of(all_endings)}(?![^\W_])",
            rf"(?<![^\W_]){any_of(self._irregular)}(?![^\W_])",
        )
        self._possessive = _compile(*_possessives(words.possessives))
        # The tokenizer leaves the last bracket apart.
        self._bracketed = _compile(
            rf"(?<=[^\W\d_])\({any_of(words.bracketed_endings)}\b(?:\)|(?!\)))(?!\w)"
        )
        self._affix = _compile(
            rf"(?<![^\W_]){any_of(words.elisions)}'",
            rf"(?<![^\W_])({any_of(words.joined_prefixes)})-(?=[^\W\d_])",
        )
        self._heads = frozenset(map(str.lower, words.compound_heads))
        genitives, residual = map(any_of, (language.finder.genitives, words.residual_words))
        self._unspecified = _compile(rf"\s{genitives}\s{residual}\s[^,]*?(?=\s{genitives}\s)")
        self.has_compounds = bool(words.compound_heads)
        self.has_affixes = bool(words.elisions or words.joined_prefixes)
        # The same for single words, which are kept.
        self._split = lru_cache(_CACHED)(self._split_compound)
        self.spelling = lru_cache(_CACHED)(self._spelling_of)
        self.singular = lru_cache(_CACHED)(self._singular_of)

    def strip_tags(self, text: str) -> str:
        """Remove the tags of SNOMED CT, UMLS, ICD, OMIM, OBO and Read codes from both ends of a
        name: "Asthma (disorder)", "Asthma, NOS", "Cold <1>", "[X]Asthma".

        text (str): A cleaned text.
        RETURNS (str): The text without its tags; empty if it has nothing else.
        """
        lowered = text.lower() if text.isascii() else lower_in_place(text)
        start, end = 0, len(text)
        # Both ends are found in place: copying the rest of the text for each tag would take
        # quadratic time.
        while lowered.startswith(self._tag_beginnings, start):
            start += next(
                len(tag) for tag in self._tag_beginnings if lowered.startswith(tag, start)
            )
            while lowered.startswith(" ", start):
                start += 1
        while lowered.endswith(self._last_letters, start, end):
            if (before := self._skip_ending(lowered, start, end)) == end:
                break
            end = before
        return text[start:end].rstrip(" ,") if end - start < len(text) else text

    def _skip_ending(self, lowered: str, start: int, end: int) -> int:
        """Find the start of a tag at the end of a text.

        RETURNS (int): The start of the tag that ends at `end`, or `end` if there is none.
        """
        bare = end
        while lowered.endswith((" ", ","), start, bare):
            bare -= 1
        endings = self._tag_endings
        if lowered.endswith(endings, start, bare):
            return bare - next(len(tag) for tag in endings if lowered.endswith(tag, start, bare))
        for opening, closing in ("()", "<>"):
            if not lowered.endswith(closing, start, bare):
                continue
            bracket = lowered.rfind(opening, start, bare)
            inside = lowered[bracket + 1 : bare - 1]
            if bracket >= 0 and (inside in self._tags if opening == "(" else inside.isdecimal()):
                while lowered.endswith(" ", start, bracket):
                    bracket -= 1
                return bracket
        return end

    def drop_unspecified(self, text: str) -> str:
        """Remove what a name says to be unspecified, if it says more: "fracture of unspecified part
        of clavicle" is a fracture of the clavicle.

        text (str): A cleaned text.
        RETURNS (str): The text without it.
        """
        return self._unspecified.sub("", text)

    def restore_word_order(self, text: str) -> str:
        """Move the qualifiers of an inverted name before its head: "Leukemia, Myeloid, Acute"
        becomes "Acute Myeloid Leukemia", "Tooth Agenesis, Selective, 6" "Selective Tooth Agenesis
        6". Names with a conjunction, a qualifier such as "due to ..." or more than two commas do
        not change. A list of two ("nausea, vomiting") looks like an inverted name, so it changes,
        too.

        text (str): A cleaned text.
        RETURNS (str): The name in natural order.
        """
        if _COMMA not in text or text.count(",") > _MOST_COMMAS:
            return text
        head, *qualifiers = (part.removesuffix(" ") for part in text.split(_COMMA))
        for part in (head, *qualifiers):
            if not part.strip(", ") or part.endswith(",") or self._stays.search(part):
                return text
        number = [qualifiers.pop()] if NUMBER.fullmatch(qualifiers[-1]) else []
        return " ".join([*reversed(qualifiers), head, *number])

    def unify_spelling(self, text: str) -> str:
        """Replace the spellings of the language's table by those that are compared: British
        "haemorrhage", "tumour" and "localised" by American "hemorrhage", "tumor" and "localized".

        text (str): A cleaned text.
        RETURNS (str): The text.
        """
        return _WORD.sub(lambda match: self.spelling(match[0]), text)

    def _spelling_of(self, word: str) -> str:
        if not (word.isascii() and _SHORTEST_SPELLED <= len(word) <= _LONGEST):
            return word
        spelling = word
        for match in reversed([*self._misspelled.finditer(word.lower())]):
            start, end = match.span()
            part, written = self._spellings[match[0]], word[start:end]
            if written[0].isupper():
                part = part.upper() if written.isupper() else part.capitalize()
            spelling = f"{spelling[:start]}{part}{spelling[end:]}"
        return spelling if spelling == word else self.spelling(spelling)

    def drop_plurals(self, text: str) -> str:
        """Replace clear plurals by their singular: "tumours" becomes "tumour", "stenoses"
        "stenosis", "dermatitides" "dermatitis", "CVAs" "CVA". Words that only look like plurals
        ("diabetes", "Graves"), words in capitals ("AIDS") and unclear plurals ("vertebrae") do not
        change.

        text (str): A cleaned text.
        RETURNS (str): The text.
        """
        return self._inflected.sub(lambda match: self.singular(match[0]), text)

    def _singular_of(self, word: str) -> str:
        if (short := drop_plural(word)) != word:
            return short
        # "AIDS", "RaDS".
        if not word[1:].islower():
            return word
        lowered = word.lower()
        singular = self._irregular.get(lowered)
        if singular is None and len(word) >= _SHORTEST_PLURAL:
            singular = self._without_ending(lowered)
        if singular in (None, lowered):
            return word
        return singular.capitalize() if word[0].isupper() else singular

    def _without_ending(self, word: str) -> str:
        """RETURNS (str): What the lexicon says of a word that may be a plural, if it is right about
        words with this ending, or else what the table's endings make of it.

        word (str): A word in lower case.
        """
        for cut in range(len(word)):
            if word[cut:] in self._certain_endings:
                return word[:cut] + self._certain_endings[word[cut:]]
        lemma = self._language.lemma(word) if word.endswith(self._inflected_endings) else None
        if lemma is not None:
            # A name is not a plural: "Jacobs", the lexicon says, is of "Jacob".
            return lemma if lemma.islower() and lemma[0] == word[0] else word
        for cut in range(len(word)):
            if word[cut:] in self._other_endings:
                changed = word[:cut] + self._other_endings[word[cut:]]
                # "lipomatas" is a double plural.
                return word if changed == word else self.singular(changed)
        return word

    def drop_possessives(self, text: str) -> str:
        """Remove the possessive of eponyms: "Crohn's disease" becomes "Crohn disease".

        text (str): A cleaned text with straight apostrophes (see `unify_unicode`).
        RETURNS (str): The text.
        """
        return self._possessive.sub("", text) if _APOSTROPHE in text else text

    def drop_bracketed_endings(self, text: str) -> str:
        """Remove the ending of a plural in brackets: "lymph node(s)" becomes "lymph node".

        text (str): A cleaned text.
        RETURNS (str): The text.
        """
        return self._bracketed.sub("", text)

    def unify_affixes(self, text: str) -> str:
        """Remove elided words and the hyphens of prefixes: "hypotonie d'effort intra-utérine"
        becomes "hypotonie effort intrautérine".

        text (str): A cleaned text with straight apostrophes and hyphens.
        RETURNS (str): The text.
        """
        return self._affix.sub(lambda match: "".join(filter(None, match.groups())), text)

    def split_compounds(self, text: str) -> str:
        """Split compounds before their last word: "Kopfschmerzen" becomes "Kopf schmerzen".

        text (str): A cleaned text.
        RETURNS (str): The text.
        """
        return _LETTERS.sub(lambda match: self._split(match[0]), text)

    def _split_compound(self, word: str) -> str:
        """Split a word before its longest head: "Lungen|rundherd". A head is no compound:
        "Rundherd".
        """
        # Its ends are looked up: a pattern of hundreds of heads takes twenty times as long.
        lowered = word.lower()
        cuts = range(_SHORTEST_PART, min(len(word), _LONGEST_PART + 1))
        is_head = lowered in self._heads
        cut = next((cut for cut in cuts if lowered[cut:] in self._heads), len(word))
        return word if is_head or cut == len(word) else f"{word[:cut]} {word[cut:]}"


def _compile(*patterns: str) -> re.Pattern[str]:
    """RETURNS (Pattern): Matches what any of some patterns does, in any case."""
    return re.compile("|".join(p for p in patterns if NEVER not in p) or NEVER, re.IGNORECASE)


def _part(part: str) -> str:
    """Write a part of a word as a pattern, with its "^" and "$"."""
    inside = re.escape(part.strip(_START + _END))
    return r"\b" * part.startswith(_START) + inside + r"\b" * part.endswith(_END)


def _possessives(possessives: Iterable[str]) -> list[str]:
    letters = {ending[1:].lower() for ending in possessives if ending.startswith(_APOSTROPHE)}
    # A chain of possessives is matched only from its start: matching it from each of them would
    # take quadratic time.
    return [
        rf"(?<!\w'{letter})(?:(?<=\w)'{letter})+'*(?![\w'])|(?<={letter})'+(?![\w'])"
        for letter in sorted(letters)
    ]
