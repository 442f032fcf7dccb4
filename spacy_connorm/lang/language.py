"""What the package knows of a language: the classes of words and the rows of tables in its folder,
`lang/CODE`. A language without a folder is the neutral one: all of them are empty, so that names
are found only as they are written.

The first columns of a table are the fields of its rows, in order. The last ones are for people and
tests: `example`, a phrase, `name`, the name that it has because of the row (or does not have, in
`other_meanings.tsv`), and `worth`, what the row adds to F1 on development sets. Without an example,
a row of `phrases.tsv` is shown by its phrase, and without a name by the first one that this stands
for.
"""

import csv
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

from .assertion_classes import AssertionClasses
from .cues import Cue
from .finder_classes import FinderClasses
from .short_form_classes import SIDE, FindingCue, ShortFormClasses, ShortFormMeaning
from .word_classes import WordClasses

# spaCy's code for no language in particular.
NEUTRAL = "xx"
_FOLDER = Path(__file__).parent
KNOWN_LANGUAGES = tuple(sorted(path.parent.name for path in _FOLDER.glob("*/words.toml")))
# Unicode's block of combining diacritical marks.
_FIRST_ACCENT, _LAST_ACCENT = "\u0300", "\u036f"
# The minimum share of small words, those that bags of words leave out, among all words of names.
_FEWEST_SMALL_WORDS = 0.03
# The number of names that tell their language.
_MOST_NAMES = 5000
# The minimum length of the stem of a stem.
_SHORTEST_STEM = 4
# Classes of words that names are compared by.
_WORDS_OF_NAMES = (
    "malformations",
    "disorders",
    "complaints",
    "measures",
    "disease_nouns",
    "system_nouns",
)
# How a column is read, by the type of its field; others are texts.
_READERS: dict[Any, Callable[[str], Any]] = {
    bool: "yes".__eq__,
    int: int,
    # Alternatives.
    tuple[str, ...]: lambda column: tuple(map(str.strip, column.split(","))),
}
Classes = TypeVar("Classes")
Row = TypeVar("Row")
Stem = Callable[[str], str]
Lemma = Callable[[str], str | None]


class Meaning(NamedTuple):
    """A row of `meanings.tsv`: what a word of a text may stand for in a name.

    word (str): A word, or with the kind "ending" the end of one; normalized in a language without a
        stemmer.
    kind (str): "root": an adjective and its noun, which has another root. "disease": a disease and
        the organ that it is of. "system": an adjective and what names call its system of organs.
        "name": what is said for another name. "state": what is said of a patient. "change": what
        changes, as a noun, and the adjective of names. "amount": how much of something there is.
        "within": what only longer names say. "ending": a noun and two words of names. "ordinal": a
        number. "alike": words that can replace each other. "part" and "process": a part of the
        body and what happens to it, and the beginnings and endings of a word for both:
        "gallbladder" and "inflammation" for "cholecystitis".
    stands_for (Tuple[str, ...]): The same for what names say; an empty text where they say nothing.
    """

    word: str
    kind: str
    stands_for: tuple[str, ...]


class PhraseMeaning(NamedTuple):
    """A row of `phrases.tsv`: an everyday phrase, and what names say.

    phrase (str): Words; "/" is between those of which one is there: "throwing/throw/threw up".
    stands_for (Tuple[str, ...]): What names say, each of up to three words beside function words,
        or all of a name.
    """

    phrase: str
    stands_for: tuple[str, ...]

    def texts(self) -> Iterator[str]:
        """YIELDS (str): The phrase with each of the words between "/"."""
        for words in product(*(word.split("/") for word in self.phrase.split())):
            yield " ".join(words)


class OtherMeaning(NamedTuple):
    """A row of `other_meanings.tsv`: words beside another that give it another meaning.

    word (str): The word, in lower case.
    side (str): Where the others stand: "before" or "after" the word.
    others (Tuple[str, ...]): The others.
    """

    word: str
    side: str
    others: tuple[str, ...]


class Derivation(NamedTuple):
    """A row of `derivations.tsv`: an ending of adjectives, verbs or irregular plurals.

    ending (str): The ending.
    noun_endings (Tuple[str, ...]): What nouns have in its place.
    is_of_nouns (bool): Whether it makes adjectives that say where or of what.
    fewest (int): The minimum number of words in a text where such a word stands for its noun.
    """

    ending: str
    noun_endings: tuple[str, ...]
    is_of_nouns: bool
    fewest: int


class Plural(NamedTuple):
    """A row of `plurals.tsv`: a singular that the lexicon does not know.

    plural (str): A word or an ending.
    kind (str): "word", one that the lexicon reads as another word; "certain ending", of words that
        it does so with; "ending", of words that it lacks.
    singular (str): The singular; the same for a word that only looks like a plural.
    """

    plural: str
    kind: str
    singular: str


class Opposite(NamedTuple):
    """A row of `opposites.tsv`: words of which a name has another than the text.

    sides (str): The words that say the same, and after a slash those that say another: "increased
        high / decreased low". A hyphen stands for the rest of a word: "hyper- / hypo-".
    """

    sides: str


def strip_accents(word: str, letters: Collection[str] = ()) -> str:
    """Remove the accents of a word, which notes often lack.

    word (str): A word in lower case.
    letters (Collection[str]): Letters that keep their marks.
    RETURNS (str): The word without other accents. What makes another letter in other scripts stays:
        the marks of kana, the vowels of Devanagari.
    """
    if word.isascii():
        return word
    return "".join(letter if letter in letters else _base(letter) for letter in word)


@cache
def _base(letter: str) -> str:
    decomposed = unicodedata.normalize("NFKD", letter)
    return "".join(part for part in decomposed if not _FIRST_ACCENT <= part <= _LAST_ACCENT)


@cache
def stemmer_of(algorithm: str) -> Stem:
    """Get the stemmer of a language.

    algorithm (str): The name of an algorithm of Snowball, "french"; empty for none.
    RETURNS (Callable[[str], str]): From a word in lower case without accents to its stem. Words are
        stemmed until nothing changes, since an accent may say that an ending is one: "implantées"
        and "implanté" have the same stem without them, too. What is left of "parestesia" would be
        that of "parada", so that a stem is not made shorter than four letters.
    """
    if not algorithm:
        return str
    import snowballstemmer

    stem = snowballstemmer.stemmer(algorithm).stemWord

    def stem_fully(word: str) -> str:
        shorter = stem(word)
        while shorter != word:
            word, shorter = shorter, stem(shorter)
            if len(shorter) < _SHORTEST_STEM:
                break
        return word

    return stem_fully


@cache
def lemmas_of(code: str) -> Lemma:
    """Get the lemmas of a language, from simplemma, which has 54 languages. Its dictionary is read
    for the first word: that of English in 0.3 s, and it takes 25 MB.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (Callable[[str], Optional[str]]): From a word in lower case to its lemma, None for an
        unknown word. The lemmas of names have a capital.
    """
    # Pipelines that find no mentions need no lexicon.
    from simplemma.strategies import DictionaryLookupStrategy

    lookup = DictionaryLookupStrategy()
    return lambda word: lookup.get_lemma(word, code)


@dataclass(frozen=True, eq=False)
class LanguageData:
    """The classes and tables of a language. There is one object for each.

    code (str): ISO 639-1, as in `nlp.lang`.
    words (WordClasses): Words by what they do.
    meanings (Tuple[Meaning, ...]): What words may stand for, as the table has it; see
        `Words.meanings`.
    phrases (Tuple[PhraseMeaning, ...]): What several words may stand for; see `Words.phrases`.
    derivations (Tuple[Derivation, ...]): How words derive from nouns.
    plurals (Tuple[Plural, ...]): How plurals are formed.
    opposites (Tuple[Opposite, ...]): What does not mean the same, however alike.
    finder (FinderClasses): Words around and in mentions.
    other_meanings (Tuple[OtherMeaning, ...]): Words that give others another meaning.
    short_forms (ShortFormClasses): Short forms of notes and words around them.
    finding_cues (Tuple[FindingCue, ...]): What stands beside findings.
    short_form_meanings (Tuple[ShortFormMeaning, ...]): What short forms of notes mean.
    assertions (AssertionClasses): Words in and around the scopes of cues.
    cues (Tuple[Cue, ...]): What says that a mention is negated, or the like.
    cue_parts (Mapping[str, Tuple[str, ...]]): The alternatives of each part of cues.
    inflections (Tuple[Mapping[str, str], ...]): The endings of the forms of verbs in cues.
    spellings (Mapping[str, str]): Parts of words, with those of the spelling that is compared. "^"
        is the beginning of a word, "$" its end.
    """

    code: str
    words: WordClasses = field(default_factory=WordClasses)
    finder: FinderClasses = field(default_factory=FinderClasses)
    short_forms: ShortFormClasses = field(default_factory=ShortFormClasses)
    meanings: tuple[Meaning, ...] = ()
    phrases: tuple[PhraseMeaning, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    plurals: tuple[Plural, ...] = ()
    opposites: tuple[Opposite, ...] = ()
    other_meanings: tuple[OtherMeaning, ...] = ()
    finding_cues: tuple[FindingCue, ...] = ()
    short_form_meanings: tuple[ShortFormMeaning, ...] = ()
    assertions: AssertionClasses = field(default_factory=AssertionClasses)
    cues: tuple[Cue, ...] = ()
    cue_parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inflections: tuple[Mapping[str, str], ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def stem(self) -> Stem:
        """The stemmer of the language.

        RETURNS (Callable[[str], str]): From a word in lower case without accents to its stem; the
            same word in a language without one.
        """
        return stemmer_of(next(iter(self.words.stemmer), ""))

    @cached_property
    def lemma(self) -> Lemma:
        """The lemmas of the language.

        RETURNS (Callable[[str], Optional[str]]): See `lemmas_of`.
        """
        return lemmas_of(self.code)

    @cached_property
    def sides(self) -> dict[str, str]:
        """The sides that single letters stand for.

        RETURNS (Dict[str, str]): "left" by "L".
        """
        rows = self.short_form_meanings
        return {row.short: row.long for row in rows if row.use == SIDE}

    def __reduce__(self) -> tuple:
        return load_language, (self.code,)


@cache
def load_language(code: str) -> LanguageData:
    """Read the tables of a language, once.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (LanguageData): Its classes and tables; empty ones if it has no folder.
    """
    folder = _FOLDER / code
    if not code.isalpha() or not folder.is_dir():
        return LanguageData(code)
    words = _read_classes(WordClasses, folder / "words.toml", stop_words=_stop_words(code))
    words = replace(words, **{name: _stems(name, words) for name in _WORDS_OF_NAMES})
    return LanguageData(
        code,
        words=words,
        finder=_read_classes(FinderClasses, folder / "finder.toml"),
        short_forms=_read_classes(ShortFormClasses, folder / "short_forms.toml"),
        meanings=tuple(_read_table(Meaning, folder / "meanings.tsv")),
        phrases=tuple(_read_table(PhraseMeaning, folder / "phrases.tsv")),
        derivations=tuple(_read_table(Derivation, folder / "derivations.tsv")),
        plurals=tuple(
            Plural(strip_accents(row.plural), row.kind, strip_accents(row.singular))
            for row in _read_table(Plural, folder / "plurals.tsv")
        ),
        opposites=tuple(_read_table(Opposite, folder / "opposites.tsv")),
        other_meanings=tuple(_read_table(OtherMeaning, folder / "other_meanings.tsv")),
        finding_cues=tuple(_read_table(FindingCue, folder / "finding_cues.tsv")),
        short_form_meanings=tuple(
            _read_table(ShortFormMeaning, folder / "short_form_meanings.tsv")
        ),
        assertions=_read_classes(AssertionClasses, folder / "assertions.toml"),
        cue_parts={
            name: tuple(items) for name, items in _read_items(folder / "cue_parts.toml").items()
        },
        cues=tuple(_read_table(Cue, folder / "assertions.tsv")),
        inflections=tuple(_read_rows(folder / "inflections.tsv")),
        spellings={row["part"]: row["spelling"] for row in _read_rows(folder / "spellings.tsv")},
    )


def _read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Read a table of a language.

    path (Path): A file with a header and tab-separated columns, without quoting.
    YIELDS (Dict[str, str]): The rows, by column; nothing if the language lacks the table.
    """
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _read_table(kind: Callable[..., Row], path: Path) -> Iterator[Row]:
    """Read a table whose first columns are the fields of its rows, in order.

    kind (Callable): The class of the rows, a named tuple.
    path (Path): The table.
    YIELDS (Row): The rows.
    """
    readers = [_READERS.get(of_field, str) for of_field in get_type_hints(kind).values()]
    for row in _read_rows(path):
        yield kind(*(read(column) for read, column in zip(readers, row.values(), strict=False)))


def _stems(name: str, words: WordClasses) -> frozenset[str]:
    return frozenset(_stemmed(word, words) for word in getattr(words, name))


def _stemmed(text: str, words: WordClasses) -> str:
    """Write a phrase as the words of names are compared: stems without function words; unchanged
    without a stemmer.
    """
    if not words.stemmer:
        return text
    stem = stemmer_of(*words.stemmer)
    plain = (strip_accents(word, words.letters) for word in text.lower().split())
    return " ".join(stem(word) for word in plain if word not in words.function_words)


def _stop_words(code: str) -> frozenset[str]:
    """Get spaCy's stop words of a language."""
    name = f"spacy.lang.{code}.stop_words"
    return frozenset(import_module(name).STOP_WORDS) if find_spec(name) else frozenset()


def _read_classes(kind: type[Classes], path: Path, **others: frozenset[str]) -> Classes:
    """Read classes of words from a file.

    kind (Type[Classes]): A dataclass with a field for each class.
    path (Path): A TOML file: a text of words, or a list of phrases, by class.
    others (FrozenSet[str]): Classes that are not in the file.
    RETURNS (Classes): The classes; TypeError for one that is not a field.
    """
    classes = {name: frozenset(items) for name, items in _read_items(path).items()}
    return kind(**classes, **others)


def _read_items(path: Path) -> dict[str, list[str]]:
    if not path.exists():
        return {}
    values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: value.split() if isinstance(value, str) else value for name, value in values.items()
    }


def names_language(names: Iterable[str]) -> str:
    """Find the language of names.

    names (Iterable[str]): The names of an ontology in order; the first 5,000 of them tell.
    RETURNS (str): The code of the language with most of their small words; empty if there are too
        few of them to tell. "NOS" in "Bradycardia NOS" is not a small word.
    """
    first = (name.lower() if name.isupper() else name for name in islice(names, _MOST_NAMES))
    words = Counter(strip_accents(word) for name in first for word in name.split())
    counts = {
        code: sum(words[word] for word in load_language(code).words.function_words)
        for code in KNOWN_LANGUAGES
    }
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > _FEWEST_SMALL_WORDS * words.total() else ""
