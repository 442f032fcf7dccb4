"""The words of a text in one language: normalized, so that "Cancer of the Breasts", "breast cancer"
and "Breast-Cancer" have the same bag of words; and what kind of word each is.
"""

import re
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from ..lang import LanguageData, Meaning, PhraseMeaning, load_language, strip_accents
from .cleaning import spell_letters, unify_dashes, unify_unicode
from .orthography import Orthography
from .short_forms import drop_plural, is_never_plural
from .word_forms import EndingPair, WordForms

_NUMERALS = {
    **{"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5"},
    **{"vi": "6", "vii": "7", "viii": "8", "ix": "9"},
}
_WORD = re.compile(r"[^\W\d_]+|\d+")
# A capital "A" is not an article: "hepatitis A"; nor is the letter of a number: "stage 3a".
_LETTER = "A"
_NUMBERED = re.compile(r"a(?:(?<=\da)(?![^\W\d_])|(?=\d)(?<![^\W\d_]a))")
# "Stage IIIb", "IIIB".
_ROMAN = re.compile(r"(?<![^\W_])(?:(II|III|IV|VII|VIII|IX)([A-Da-d])|(I|V|VI)([a-d]))(?![^\W_])")
_HEAD_FIRST = "head-first"
# The first sign of a row's word that is the end of others, and the kinds whose rows stand for parts
# of words.
_ENDING = "-"
_PARTS_OF_WORDS = ("part", "process")
# The kinds whose rows may be about compounds.
_OF_COMPOUNDS = ("name", "state", "within")
# Longer runs of letters are not words.
_LONGEST = 60
# Shorter words have an ending by accident.
_SHORTEST_MODIFIER = 5
_CACHED = 65_536
# The number of `Words` that are kept for others, and of what is made of them: an ontology with
# endings of its own has its own ones, and a process may build many.
MOST_READERS = 16


class PhraseWords(NamedTuple):
    """Several words, and what they stand for.

    texts (Dict[Tuple[str, ...], str]): The ways to write them, by their content words in order.
    bags (Tuple[Tuple[str, ...], ...]): Their bags of words, each once.
    stands_for (Tuple[Tuple[str, ...], ...]): The bags of words of what names say.
    """

    texts: dict[tuple[str, ...], str]
    bags: tuple[tuple[str, ...], ...]
    stands_for: tuple[tuple[str, ...], ...]


class Words:
    """Reads the words of texts in one language. `words_of` makes one for each language."""

    def __init__(self, language: LanguageData, endings: tuple[EndingPair, ...] = ()) -> None:
        """Compile the tables of a language.

        language (LanguageData): The language.
        endings (Tuple[EndingPair, ...]): Endings that replace each other in an ontology.
        """
        self.language = language
        self.endings = endings
        self.classes = language.words
        self.orthography = Orthography(language)
        self._normalize = lru_cache(_CACHED)(self._normalized)
        self._modifier_endings = tuple(self.classes.modifier_endings)
        self._participle_endings = tuple(self.classes.participle_endings)
        self._head_endings = tuple(self.classes.head_endings)
        self._stated_endings = tuple(self.classes.stated_endings)
        self.known_bag = lru_cache(_CACHED)(self.bag)
        self.is_head = lru_cache(_CACHED)(self._is_head)
        self.is_modifier = lru_cache(_CACHED)(self._is_modifier)

    def __reduce__(self) -> tuple:
        return words_of, (self.language.code, self.endings)

    @cached_property
    def is_head_first(self) -> bool:
        """Whether nouns stand before what modifies them: "hypotonie axiale".

        RETURNS (bool): False for English.
        """
        return _HEAD_FIRST in self.classes.phrase_order

    @cached_property
    def forms(self) -> WordForms:
        """What words may stand for.

        RETURNS (WordForms): The language's.
        """
        return WordForms(self.language, self.meanings, self.endings)

    @cached_property
    def meanings(self) -> tuple[Meaning, ...]:
        """The rows of `meanings.tsv`, as the words of names are compared: with stems, and with
        compounds as several words.

        RETURNS (Tuple[Meaning, ...]): The rows; as the table has them in a language without a
            stemmer, and beginnings and endings of words, which are no words.
        """
        return tuple(
            row
            if not self.classes.stemmer or row.word.startswith(_ENDING)
            else row._replace(
                word=self._as_in_names(row.word),
                stands_for=tuple(
                    strip_accents(other, self.classes.letters)
                    if row.kind in _PARTS_OF_WORDS
                    else self._as_in_names(other)
                    for other in row.stands_for
                ),
            )
            for row in self.language.meanings
        )

    def _as_in_names(self, text: str) -> str:
        return " ".join(self.content(text))

    @cached_property
    def phrases(self) -> tuple[PhraseWords, ...]:
        """What several words stand for: the rows of `phrases.tsv`, and those of `meanings.tsv` for
        a compound, which is several words of names.

        RETURNS (Tuple[PhraseWords, ...]): The rows in the order of the tables.
        """
        # An ontology's endings change nothing, and to read thousands of phrases takes long.
        general = words_of(self.language.code)
        if general is not self and general.language is self.language:
            return general.phrases
        compounds = (
            PhraseMeaning(written.word, written.stands_for)
            for written, row in zip(self.language.meanings, self.meanings, strict=True)
            if row.kind in _OF_COMPOUNDS and " " in row.word
        )
        return tuple(map(self._phrase, chain(self.language.phrases, compounds)))

    def _phrase(self, row: PhraseMeaning) -> PhraseWords:
        texts = {tuple(self.content(text)): text for text in row.texts()}
        bags = dict.fromkeys(tuple(sorted(words)) for words in texts)
        # Rows for what names leave out stand for nothing.
        return PhraseWords(texts, tuple(bags), tuple(filter(None, map(self.bag, row.stands_for))))

    @cached_property
    def copulas(self) -> frozenset[str]:
        """The verbs that state something: "muscles were weak" says what "weak muscles" says.

        RETURNS (FrozenSet[str]): Normalized words.
        """
        return frozenset(chain.from_iterable(map(self.normalized, self.classes.copulas)))

    @cached_property
    def everyday(self) -> dict[tuple[str, ...], str]:
        """What texts say for other names: "ringing in the ears".

        RETURNS (Dict[Tuple[str, ...], str]): Each phrase, by its content words in order.
        """
        return {words: text for phrase in self.phrases for words, text in phrase.texts.items()}

    def normalized(self, text: str) -> list[str]:
        """List the words of a text in order: in lower case, in one spelling, without plurals
        ("node(s)", too), possessives, accents and the tags of terminologies, Greek letters and "œ"
        spelled out, "ß" as "ss", and Roman numerals up to nine as digits, also before a letter:
        "IIIb". Letters and digits are separate words: "CD4" is "cd" and "4". A single "A", also
        that of "3a", stays a capital, unlike the article.

        text (str): Any text.
        RETURNS (List[str]): The words, including function words.
        """
        if text.isascii() and text.isalpha() and not self._may_split(text):
            return [self._normalize(text)]
        plain = text if text.isascii() else spell_letters(unify_dashes(unify_unicode(text)))
        untagged = (self.orthography.strip_tags(plain) or text).replace("`", "'")
        if "(" in untagged:
            untagged = self.orthography.drop_bracketed_endings(untagged)
        words = self.orthography.drop_possessives(untagged)
        if self.orthography.has_affixes:
            words = self.orthography.unify_affixes(words)
        if self.orthography.has_compounds:
            words = self.orthography.split_compounds(words)
        if "I" in words or "V" in words:
            words = _ROMAN.sub(_split_numeral, words)
        words = _NUMBERED.sub(_LETTER, words)
        return list(map(self._normalize, _WORD.findall(words)))

    def _may_split(self, word: str) -> bool:
        """Check for a word that may be a compound, or end with a numeral: "IIIb"."""
        return self.orthography.has_compounds or "I" in word or "V" in word

    def _normalized(self, word: str) -> str:
        if word == _LETTER:
            return word
        if len(word) > _LONGEST:
            return word.casefold()
        is_kept = is_never_plural(word) or drop_plural(word) != word
        written = word if is_kept else word.lower()
        plain = strip_accents(written, self.classes.letters)
        singular = self.orthography.singular(self.orthography.spelling(plain)).casefold()
        if singular in _NUMERALS:
            return _NUMERALS[singular]
        small = self.classes.function_words
        stem = singular if singular in small else self.language.stem(singular)
        # "Parésie" is not "par".
        return singular if stem in small else stem

    def content(self, text: str) -> list[str]:
        """List the words of a text without function words, unless there is nothing else.

        text (str): Any text.
        RETURNS (List[str]): Normalized words in order; see `normalized`.
        """
        words = self.normalized(text)
        return [word for word in words if word not in self.classes.function_words] or words

    def bag(self, text: str) -> tuple[str, ...]:
        """Split a text into its words, in any order. `known_bag` is the same, and keeps the last
        ones.

        text (str): A name or a mention.
        RETURNS (Tuple[str, ...]): Its content words in alphabetical order, each as often as it
            occurs.
        """
        return tuple(sorted(self.content(text)))

    def _is_modifier(self, word: str) -> bool:
        """Check whether a word looks like it needs a noun after it: "ovarian". It is called as
        `is_modifier`, which caches.

        RETURNS (bool): True if it does.
        """
        lowered = word.lower()
        if lowered in self.classes.modifiers or len(word) < _SHORTEST_MODIFIER:
            return lowered in self.classes.modifiers
        is_noun = lowered in self.classes.nouns_like_modifiers
        return lowered.endswith(self._modifier_endings) and not is_noun

    def is_quality(self, word: str) -> bool:
        """Check for a participle or a plain adjective: "enlarged", "dry".

        word (str): In lower case.
        RETURNS (bool): True for one.
        """
        return word in self.classes.plain_adjectives or word.endswith(self._participle_endings)

    def lacks_noun(self, word: str) -> bool:
        """Check whether a word needs a noun after it, including adjectives with another root:
        "renal".

        RETURNS (bool): True if it does.
        """
        return word in self.forms.roots or self.is_modifier(word)

    def is_adjective(self, word: str) -> bool:
        """Check whether a word is an adjective: one that looks like it needs a noun, or a plain
        one.

        RETURNS (bool): True if it is.
        """
        return self.is_modifier(word) or word.lower() in self.classes.plain_adjectives

    def may_be_stated(self, word: str) -> bool:
        """Check for what may follow a form of "to be": an adjective, "coarser" and "hypermobile",
        too.

        RETURNS (bool): True if it may.
        """
        lowered = word.lower()
        forms = (lowered, self.language.lemma(lowered) or lowered)
        is_state = lowered in self.forms.states or lowered.endswith(self._stated_endings)
        return is_state or any(map(self.is_adjective, forms))

    def _is_head(self, word: str) -> bool:
        """Check whether a word looks like it names a disorder by itself: "hepatitis". It is called
        as `is_head`, which caches.

        RETURNS (bool): True if it does.
        """
        lowered = word.lower()
        forms = (lowered, self.orthography.drop_plurals(lowered))
        return any(
            form in self.classes.heads or form.endswith(self._head_endings) for form in forms
        )


def words_of(code: str, endings: tuple[EndingPair, ...] = ()) -> Words:
    """Get what reads the words of a language.

    code (str): ISO 639-1, as in `nlp.lang`.
    endings (Tuple[EndingPair, ...]): Endings that replace each other in an ontology.
    RETURNS (Words): The same object for the same language and endings while it is kept.
    """
    return _words_of(code, endings)


@lru_cache(MOST_READERS)
def _words_of(code: str, endings: tuple[EndingPair, ...]) -> Words:
    return Words(load_language(code), endings)


def _split_numeral(match: re.Match[str]) -> str:
    numeral, letter = filter(None, match.groups())
    return f"{_NUMERALS[numeral.lower()]}{letter.lower()}"
