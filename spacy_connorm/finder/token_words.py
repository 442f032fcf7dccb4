"""The words of tokens, as arrays for `name_windows`."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..documents.abbreviations import abbreviation_spans, read_abbreviations
from ..files.arrays import list_ranges
from ..index.cache import Cache
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from ..text.composites import composite_splitter
from ..text.words import Words
from .name_windows import ADVERB, BREAK, FILLER, PAUSE, PAUSES, WORD, Replacements, TokenArrays
from .phrases import phrases_of
from .readings import NO_READINGS, NeighbourReader, Readings
from .unspaced import count_letters

_SLASH = "/"
_APOSTROPHES = frozenset(["'", "’"])
# Punctuation that no mention goes across. Dashes and slashes may be anywhere.
_BREAKS = frozenset(':?!{}"“”…|')
_PAUSES = frozenset(PAUSES)
_MOST_TOKENS = 100_000
# A text and whether a space follows it.
_NO_TOKEN = np.zeros((1, 2), dtype="uint64")
_AFTER_LATIN = "\u0250"


class _Token(NamedTuple):
    """The words of one token; see `TokenArrays`.

    starts_latin (bool): Whether its first character is a Latin letter.
    ends_latin (bool): Whether its last one is.
    readings (Readings): Other words that it may stand for.
    adjectives (Readings): Those that it may stand for after a preposition.
    is_preposition (bool): Whether it says where or of what.
    is_determiner (bool): Whether it may be between a preposition and a noun.
    """

    hash: int
    size: int
    letters: int
    kind: int
    starts_latin: bool = False
    ends_latin: bool = False
    readings: Readings = NO_READINGS
    adjectives: Readings = NO_READINGS
    is_preposition: bool = False
    is_determiner: bool = False


_END = _Token(0, 0, 0, BREAK)
_BETWEEN = _Token(0, 0, 0, PAUSE)
_SMALL = _Token(0, 0, 0, FILLER)


def _text_of(orth: int, vocabs: Sequence[Vocab]) -> str:
    """Look up the text of a hash in several vocabularies.

    RETURNS (str): The text; empty for `_NO_TOKEN`.
    """
    known = (vocab.strings for vocab in vocabs)
    # spaCy's type hints do not say that a hash can also be looked up.
    return next((strings[orth] for strings in known if orth in strings), "")  # type: ignore[operator]


def document_offsets(docs: Sequence[Doc]) -> list[int]:
    """Get the first token of each of n documents in the arrays of `TokenWords`.

    RETURNS (List[int]): n + 1 offsets; the last one is the total number of tokens.
    """
    return np.cumsum([0, *(len(doc) + 1 for doc in docs)]).tolist()


def by_document(starts: np.ndarray, offsets: Sequence[int]) -> list[np.ndarray]:
    """Sort windows of tokens into documents.

    starts (Ints1d): int64 (w,): the first token of each window.
    offsets (Sequence[int]): See `document_offsets`.
    RETURNS (List[Ints1d]): For each document, the numbers of its windows, int64, by their first
        token.
    """
    order = np.argsort(starts, kind="stable")
    bounds = np.searchsorted(starts[order], offsets).tolist()
    return [order[first:last] for first, last in pairwise(bounds)]


def _columns(tokens: Sequence[_Token]) -> list[np.ndarray]:
    """Convert tokens to arrays.

    RETURNS (List[np.ndarray]): Hashes, sizes, letters and kinds, see `TokenArrays`, and whether the
        tokens begin and end with a Latin letter.
    """
    columns = list(zip(*tokens, strict=True)) if tokens else [()] * len(_Token._fields)
    kinds = ("uint64", "int32", "int32", "uint8", "bool", "bool")
    return [np.asarray(column, dtype) for column, dtype in zip(columns, kinds, strict=False)]


def _owned_nouns(tokens: Sequence[_Token], which: np.ndarray) -> np.ndarray:
    """Find the words after a preposition: the cerebellum in "atrophy of the cerebellum".

    tokens (Sequence[_Token]): The distinct tokens.
    which (Ints1d): int64 (t,): the number of each token among them.
    RETURNS (Ints1d): int64: the positions of these words.
    """
    is_preposition = np.array([token.is_preposition for token in tokens], dtype="bool")[which]
    is_determiner = np.array([token.is_determiner for token in tokens], dtype="bool")[which]
    is_owned = np.zeros(len(which), dtype="bool")
    is_owned[1:] = is_preposition[:-1]
    is_owned[2:] |= is_preposition[:-2] & is_determiner[1:-1]
    return np.flatnonzero(is_owned)


def _of_tokens(distinct: Sequence[Readings], which: np.ndarray, tokens: np.ndarray) -> Replacements:
    """List what tokens may stand for by themselves.

    distinct (Sequence[Readings]): What each distinct token may stand for.
    which (Ints1d): int64 (t,): the number of each token among them.
    tokens (Ints1d): int64 (t,): the positions of the tokens.
    RETURNS (Replacements): Other words, by token.
    """
    counts = np.array([len(token.least) for token in distinct], dtype="int64")
    readings = Readings.joined(distinct)
    ends = np.cumsum(counts)
    owners, numbers = list_ranges((ends - counts)[which], ends[which])
    return Replacements(tokens[owners], *(column[numbers] for column in readings))


def _is_break(text: str) -> bool:
    """Check for a sign that no mention goes across, or an empty line."""
    return not _BREAKS.isdisjoint(text) or text.count("\n") > 1


def _is_latin(character: str) -> bool:
    return character.isalpha() and character < _AFTER_LATIN


class TokenWords:
    """Converts documents to arrays. The words of each distinct token are cached."""

    def __init__(self, words: Words) -> None:
        """Start with an empty cache.

        words (Words): Reads the words of the language.
        """
        finder, classes = words.language.finder, words.classes
        self.words = words
        self._phrases = phrases_of(words)
        self._neighbours = NeighbourReader(words)
        self._splitter = composite_splitter(words.language.code)
        self._known: dict[int, _Token] = {}
        self._long_forms: Cache[tuple[str, ...], Readings] = Cache(_MOST_TOKENS)
        # "The optic nerves are hypoplastic": function words of sentences, which names do not have.
        self._skipped = (
            _APOSTROPHES
            | classes.possessives
            | classes.copulas
            | classes.owners
            | finder.skipped_words
        )
        # "Atrophy of the cerebellum" is cerebellar.
        self._owning = finder.genitives | finder.places

    def __reduce__(self) -> tuple:
        return TokenWords, (self.words,)

    def read(self, docs: Sequence[Doc], texts: Sequence[str], *, derivations: bool) -> TokenArrays:
        """Read documents. Each is followed by a break. A short form that a document defines has the
        words of its long form.

        docs (Sequence[Doc]): The documents.
        texts (Sequence[str]): Their texts.
        derivations (bool): Whether to list the other words that tokens may stand for.
        RETURNS (TokenArrays): The tokens of each document and its break.
        """
        parts = [part for doc in docs for part in (doc.to_array([ORTH, SPACY]), _NO_TOKEN)]
        written, spaces = np.concatenate([_NO_TOKEN[:0], *parts]).T
        orths, which = np.unique(written, return_inverse=True)
        distinct = self._distinct(orths.tolist(), docs)
        hashes, sizes, letters, kinds, starts_latin, ends_latin = (
            column[which] for column in _columns(distinct)
        )
        ends = np.arange(1, len(which) + 1)
        offsets = document_offsets(docs)
        readings = [_of_tokens((), which[:0], which[:0])]
        if derivations:
            owned = _owned_nouns(distinct, which)
            readings = [
                _of_tokens([token.readings for token in distinct], which, np.arange(len(which))),
                _of_tokens([token.adjectives for token in distinct], which[owned], owned),
                self._neighbours.read(docs, texts, offsets, hashes),
            ]
        own = Replacements.joined(readings)
        tokens = TokenArrays(hashes, sizes, letters, kinds, ends, hashes, own)
        is_split = ends_latin[:-1] & starts_latin[1:] & (spaces[:-1] == 0)
        replaced = self._join(tokens, docs, offsets, is_split)
        tokens = tokens._replace(written=hashes.copy())
        expanded, meant = list[int](), list[Readings]()
        for doc, text, start in zip(docs, texts, offsets, strict=False):
            for places, words in self._expand(tokens, doc, text, start):
                replaced += places
                if derivations:
                    expanded.append(places[0])
                    meant.append(self._of_long_form(words))
        own = tokens.readings.where(~np.isin(tokens.readings.places, replaced))
        long = _of_tokens(meant, np.arange(len(meant)), np.array(expanded, dtype="int64"))
        return tokens._replace(readings=Replacements.joined([own, long]))

    def without_adverbs(self, text: str, names: Iterable[str]) -> str:
        """Leave out the adverbs of a window that its names lack.

        text (str): The text of the window.
        names (Iterable[str]): Its names.
        RETURNS (str): The text.
        """
        adverbs = [word for word in text.split() if self._phrases.is_adverb(word.lower())]
        if not adverbs:
            return text
        known = {word for name in names for word in self.words.normalized(name)}
        lacking = {word for word in adverbs if known.isdisjoint(self.words.normalized(word))}
        return " ".join(word for word in text.split() if word not in lacking) if lacking else text

    def _distinct(self, orths: list[int], docs: Sequence[Doc]) -> list[_Token]:
        # Another thread may start a new cache in the meantime.
        known = self._known
        if len(known) > _MOST_TOKENS:
            known = self._known = {}
        vocabs = list({id(doc.vocab): doc.vocab for doc in docs}.values())
        for orth in orths:
            if orth not in known:
                known[orth] = self._read_token(_text_of(orth, vocabs))
        return [known[orth] for orth in orths]

    def _read_token(self, text: str) -> _Token:
        if not text or (_is_break(text) and not any(map(str.isalnum, text))):
            return _END
        if _PAUSES.issuperset(text):
            return _BETWEEN
        token = self._of_words([] if text in self._skipped else self.words.normalized(text))
        is_adverb = token.size == 1 and self._phrases.is_adverb(text.lower())
        # A stem is shorter than its word.
        is_stem = token.kind == WORD and self.words.classes.stemmer
        return token._replace(
            letters=sum(map(str.isalnum, text)) if is_stem else token.letters,
            kind=ADVERB if is_adverb else token.kind,
            starts_latin=_is_latin(text[0]),
            ends_latin=_is_latin(text[-1]),
            is_preposition=text.lower() in self._owning,
            is_determiner=text.lower() in self.words.classes.determiners,
        )

    def _of_words(self, words: Sequence[str]) -> _Token:
        content = [word for word in words if word not in self.words.classes.function_words]
        if not content:
            return _SMALL
        value = hash_bag(tuple(content))
        readings, adjectives = self._readings(content, value)
        return _Token(
            value,
            len(content),
            sum(map(count_letters, content)),
            WORD,
            readings=readings,
            adjectives=adjectives,
        )

    def _readings(self, words: Sequence[str], value: int) -> tuple[Readings, Readings]:
        """List what a token may stand for by itself: nouns for an adjective, "second" for "2nd".

        words (Sequence[str]): Its words.
        value (int): Their hash.
        RETURNS (Tuple[Readings, Readings]): The readings, and those after a preposition.
        """
        if len(words) == 1:
            return self._readings_of(words[0])
        if self.words.classes.compound_heads:  # "Typ-2-Diabetes"
            parts = Readings.joined(self._readings_of(word)[0] for word in words)
            return parts._replace(least=np.ones_like(parts.least)), NO_READINGS
        if ordinal := self.words.forms.ordinals.get("".join(words)):
            return Readings.of([((hash_word(ordinal) - value) % MODULUS, 1.0, 2)]), NO_READINGS
        return NO_READINGS, NO_READINGS

    def _readings_of(self, word: str) -> tuple[Readings, Readings]:
        """List what a word may stand for.

        RETURNS (Tuple[Readings, Readings]): The readings, and those after a preposition.
        """
        forms, value = self.words.forms.of(word), hash_word(word)
        chosen = forms.are_adjectives
        return Readings.of_forms(value, forms, ~chosen), Readings.of_forms(value, forms, chosen)

    def _join(
        self, tokens: TokenArrays, docs: Sequence[Doc], offsets: Sequence[int], is_split: np.ndarray
    ) -> list[int]:
        """Join the parts of words that the tokenizer splits, as spaCy's does with "can't" and
        "cannot". Names are not split.

        tokens (TokenArrays): Changed in place.
        docs (Sequence[Doc]): The documents.
        offsets (Sequence[int]): See `document_offsets`.
        is_split (np.ndarray): bool (t - 1,): whether a token and the next are parts of one word.
        RETURNS (List[int]): The tokens of these words.
        """
        joined = list[int]()
        starts = np.flatnonzero(is_split & ~np.concatenate([[False], is_split[:-1]])).tolist()
        for first in starts:
            last = first + 1
            while last <= len(is_split) and is_split[last - 1]:
                last += 1
            number = bisect_right(offsets, first) - 1
            own = docs[number][first - offsets[number] : last - offsets[number]]
            joined += self._set_words(tokens, first, last, self.words.normalized(own.text))
        return joined

    def _expand(
        self, tokens: TokenArrays, doc: Doc, text: str, start: int
    ) -> Iterator[tuple[range, list[str]]]:
        """Replace the words of a document's short forms by those of their long forms.

        tokens (TokenArrays): Changed in place.
        doc (Doc): The document.
        text (str): Its text.
        start (int): Its first token.
        YIELDS (Tuple[range, List[str]]): The tokens of each short form, and the words.
        """
        abbreviations = read_abbreviations(doc)
        for span in abbreviation_spans(doc, text):
            long_form = abbreviations.long_form(span.text, span.end_char - 1)
            for part, text in self._parts(span, long_form) if long_form else ():
                words = self.words.normalized(text)
                first, last = start + part.start, start + part.end
                tokens.written[first] = tokens.hashes[first:last].sum()
                yield self._set_words(tokens, first, last, words), words

    def _parts(self, span: Span, long_form: str) -> list[tuple[Span, str]]:
        """Divide a short form like its long form: "n/v" is nausea and vomiting.

        RETURNS (List[Tuple[Span, str]]): The short form of each part and its long form; one pair if
            they are not alike.
        """
        shorts = [token for token in span if token.text != _SLASH]
        if len(shorts) > 1 and 2 * len(shorts) - 1 == len(span):
            for parts in self._splitter.split(long_form):
                if len(parts) == len(shorts):
                    places = [span.doc[token.i : token.i + 1] for token in shorts]
                    return list(zip(places, parts, strict=True))
        return [(span, long_form)]

    def _of_long_form(self, words: Sequence[str]) -> Readings:
        """List what a short form may stand for: words for one of its long form, and "exertional"
        for "dyspnea on exertion". In a long form, a word is never by itself.
        """
        known = self._long_forms.get(tuple(words))
        if known is None:
            readings, adjectives = zip(*map(self._readings_of, words), strict=True)
            is_owned = not self._owning.isdisjoint(words[:-1])
            known = Readings.joined([*readings, *(adjectives[-1:] if is_owned else ())])
            known = known._replace(least=np.ones_like(known.least))
            self._long_forms.put(tuple(words), known)
        return known

    def _set_words(self, tokens: TokenArrays, first: int, last: int, words: Sequence[str]) -> range:
        """Assign words to several tokens together.

        tokens (TokenArrays): Changed in place.
        first (int): The first of them, which gets the words.
        last (int): The token after them.
        words (Sequence[str]): The words.
        RETURNS (range): The tokens.
        """
        token = self._of_words(words)
        for column, value in zip(tokens[:5], (*token[:4], last), strict=True):
            column[first] = value
        tokens.kinds[first + 1 : last] = FILLER
        return range(first, last)
