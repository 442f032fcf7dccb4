"""The words of tokens, as arrays for `name_windows`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc, Span

from ..documents.abbreviations import abbreviation_spans, read_abbreviations
from ..documents.token_texts import JoinedTexts
from ..files.arrays import list_ranges
from ..index.cache import Cache
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from ..text.cleaning import lower_in_place
from ..text.composites import composite_splitter
from ..text.word_forms import DERIVED, NO_FORMS, Forms
from .known_names import KnownName, KnownNames
from .name_windows import (
    ADVERB,
    BRACKET,
    BREAK,
    FILLER,
    PAUSE,
    PAUSES,
    VERB,
    WORD,
    Replacements,
    TokenArrays,
)
from .phrases import phrases_of
from .readings import NeighbourReader
from .unspaced import count_letters

_SLASH = "/"
_PAIRS = frozenset(["()", "[]"])
_APOSTROPHES = frozenset(["'", "’"])
# Punctuation that no mention goes across. Dashes and slashes may be anywhere.
_BREAKS = frozenset(':?!{}"“”…|☐☑☒□■○●✓✔✗✘')
_PAUSES = frozenset(PAUSES)
# Begins an item of a list.
_BULLET = re.compile(r"\n[ \t]*([-*\u2013•‣◦▪])(?=[ \t])")
# Between two words.
_SHORT_FORM = re.compile(r"\s[(\[][^()\[\]]{1,20}[)\]](?=\s)")
_MOST_TOKENS = 100_000
_AFTER_LATIN = "\u0250"


class _Token(NamedTuple):
    """The words of one token; see `TokenArrays`.

    starts_latin (bool): Whether its first character is a Latin letter.
    ends_latin (bool): Whether its last one is.
    is_adverb (bool): Whether it looks like an adverb.
    is_preposition (bool): Whether it says where or of what.
    precedes_noun (bool): Whether it may be between a preposition and a noun: "the", "left".
    is_copula (bool): Whether it states something of the noun before it.
    forms (Forms): What names may have in place of all its words.
    """

    hash: int
    size: int
    letters: int
    kind: int
    starts_latin: bool = False
    ends_latin: bool = False
    is_adverb: bool = False
    is_preposition: bool = False
    precedes_noun: bool = False
    is_copula: bool = False
    forms: Forms = NO_FORMS


_END = _Token(0, 0, 0, BREAK)
_BETWEEN = _Token(0, 0, 0, PAUSE)
_SMALL = _Token(0, 0, 0, FILLER)


def _columns(tokens: Sequence[_Token]) -> list[np.ndarray]:
    """Convert tokens to arrays.

    RETURNS (List[np.ndarray]): Hashes, sizes, letters and kinds, see `TokenArrays`, and whether the
        tokens begin and end with a Latin letter, and are adverbs, prepositions, words before nouns
        and copulas.
    """
    columns = list(zip(*tokens, strict=True)) if tokens else [()] * len(_Token._fields)
    kinds = ("uint64", "int32", "int32", "uint8", *["bool"] * 6)
    return [np.asarray(column, dtype) for column, dtype in zip(columns, kinds, strict=False)]


def _are_owned(
    are_prepositions: np.ndarray, precede_nouns: np.ndarray, are_copulas: np.ndarray
) -> np.ndarray:
    """Find the words after a preposition, the cerebellum in "atrophy of the cerebellum", and the
    subjects of statements, "the atrium was enlarged".

    RETURNS (np.ndarray): bool (t,), for each token.
    """
    are_owned = np.zeros(len(are_prepositions), dtype="bool")
    are_owned[1:] = are_prepositions[:-1]
    are_owned[2:] |= are_prepositions[:-2] & precede_nouns[1:-1]
    # "In the left ovary".
    are_owned[3:] |= are_prepositions[:-3] & precede_nouns[1:-2] & precede_nouns[2:-1]
    are_owned[:-1] |= are_copulas[1:]
    return are_owned


def _readings(
    forms: Sequence[Forms], which: np.ndarray, hashes: np.ndarray, are_owned: np.ndarray
) -> Replacements:
    """List what tokens may stand for by themselves.

    forms (Sequence[Forms]): What each distinct token may stand for.
    which (Ints1d): int64 (t,): the number of each token among them.
    hashes (np.ndarray): uint64 (t,): the hashes of the tokens.
    are_owned (np.ndarray): bool (t,): whether they may stand for adjectives.
    RETURNS (Replacements): Other words, by token.
    """
    sizes = np.array([len(some.hashes) for some in forms])
    ends = np.cumsum(sizes)
    places, numbers = list_ranges((ends - sizes)[which], ends[which])
    # Most tokens have none.
    read_as, least, certainty, are_adjectives = Forms.joined(compress(forms, sizes)).where(numbers)
    readings = Replacements(places, read_as - hashes[places], certainty, least)
    return readings.where(are_owned[places] | ~are_adjectives)


def _is_break(text: str) -> bool:
    """Check for a sign that no mention goes across, or an empty line."""
    return not _BREAKS.isdisjoint(text) or text.count("\n") > 1


def _is_in_brackets(span: Span) -> bool:
    """Check for brackets around a span, with nothing else in them: "(VHL)"."""
    doc, first, last = span.doc, span.start - 1, span.end
    return first >= 0 and last < len(doc) and doc[first].text + doc[last].text in _PAIRS


def _is_latin(character: str) -> bool:
    return character.isalpha() and character < _AFTER_LATIN


class TokenWords:
    """Converts documents to arrays. The words of each distinct token are cached."""

    def __init__(self, names: KnownNames, *, min_certainty: float) -> None:
        """Start with an empty cache.

        names (KnownNames): The names, which tell what tokens may stand for.
        min_certainty (float): See `FinderSettings`.
        """
        self._names = names
        self._min_certainty = min_certainty
        self.words = words = names.index.words
        finder, classes = words.language.finder, words.classes
        self._phrases = phrases_of(words)
        self._neighbours = NeighbourReader(words)
        self._splitter = composite_splitter(words.language.code)
        self._known: Cache[str, _Token] = Cache(_MOST_TOKENS)
        self._long_forms: Cache[tuple[str, ...], Forms] = Cache(_MOST_TOKENS)
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
        self._before_nouns = classes.determiners | finder.long_sides

    def read(self, texts: JoinedTexts, *, derivations: bool) -> TokenArrays:
        """Read documents. Each is followed by a break. A short form that a document defines has the
        words of its long form.

        texts (JoinedTexts): The documents.
        derivations (bool): Whether to list the other words that tokens may stand for.
        RETURNS (TokenArrays): The tokens of each document and its break.
        """
        known, which = self._known.get_all(texts.distinct, self._read_tokens), texts.which.copy()
        distinct = [known[text] for text in texts.distinct]
        hashes, sizes, letters, kinds, starts_latin, ends_latin, are_added, *owning = (
            column[which] for column in _columns(distinct)
        )
        ends = np.arange(1, len(which) + 1)
        others = left_out = Replacements.of(())
        tokens = TokenArrays(hashes, sizes, letters, kinds, ends, hashes, others, are_added)
        if derivations:
            others = self._neighbours.read(texts, hashes)
            left_out = self._neighbours.read_left_out(texts, hashes)
        is_split = ends_latin[:-1] & starts_latin[1:] & texts.are_joined[:-1]
        replaced = self._join(tokens, texts, is_split)
        bullets = [match.start(1) for match in _BULLET.finditer(texts.text)]
        kinds[np.searchsorted(texts.starts, bullets)] = BREAK
        self._leave_out_verbs(tokens, texts)
        tokens = tokens._replace(written=hashes.copy())
        expanded = dict[int, tuple[str, ...]]()
        for number, doc in enumerate(texts.docs):
            for places, words in self._expand(tokens, doc, texts.offsets[number]):
                replaced += places
                expanded[places[0]] = words
        are_added |= kinds == BRACKET
        if not derivations:
            return tokens
        forms = [*(token.forms for token in distinct), NO_FORMS]
        which[replaced] = len(distinct)
        long_forms = self._long_forms.get_all(expanded.values(), self._read_long_forms)
        for place, words in expanded.items():
            which[place] = len(forms)
            forms.append(long_forms[words])
        # What is left out after a short form is so whatever it stands for: "AVN of the left hip".
        others = others.where(~np.isin(others.places, replaced))
        are_owned = _are_owned(*owning)
        are_owned[:-1] |= tokens.kinds[1:] == VERB
        own = _readings(forms, which, hashes, are_owned)
        return tokens._replace(readings=Replacements.joined([own, others, left_out]))

    def simplify(self, text: str, names: Iterable[KnownName], *, has_pause: bool) -> str:
        """Leave out what a window has in addition to the words of its names: adverbs, all of a verb
        but the copula, and a short form in brackets.

        text (str): The text of the window.
        names (Iterable[KnownName]): Its names.
        has_pause (bool): Whether it has punctuation that belongs to it.
        RETURNS (str): The text.
        """
        text = self._phrases.simplify_verbs(text if has_pause else _SHORT_FORM.sub("", text))
        adverbs = [word for word in text.split() if self._phrases.is_adverb(word.lower())]
        if not adverbs:
            return text
        known = {word for name in names for word in self.words.normalized(name.text)}
        lacking = {word for word in adverbs if known.isdisjoint(self.words.normalized(word))}
        # "Splenomegally" is not an adverb.
        return " ".join(word for word in text.split() if word not in lacking) or text

    def _read_tokens(self, texts: Sequence[str]) -> dict[str, _Token]:
        tokens = list(map(self._read_token, texts))
        forms = self._of_names([token.forms for token in tokens])
        return {
            text: token._replace(forms=some)
            for text, token, some in zip(texts, tokens, forms, strict=True)
        }

    def _of_names(self, forms: Sequence[Forms]) -> list[Forms]:
        """Leave out the forms of tokens that no name has. Most do not even exist.

        forms (Sequence[Forms]): What each token may stand for.
        RETURNS (List[Forms]): What it may stand for in names.
        """
        all_forms = Forms.joined(forms)
        values = all_forms.hashes
        are_known = self._names.have_words(values) | self._names.contain(values)
        # Others depend on their neighbours, so only the whole window shows whether they are in a
        # name.
        kept = np.flatnonzero(are_known | (all_forms.certainty > DERIVED))
        known = all_forms.where(kept)
        bounds = np.searchsorted(kept, np.cumsum([0, *(len(some.hashes) for some in forms)]))
        return [
            known.where(slice(first, last)) if first < last else NO_FORMS
            for first, last in pairwise(bounds.tolist())
        ]

    def _read_token(self, text: str) -> _Token:
        if not text or (_is_break(text) and not any(map(str.isalnum, text))):
            return _END
        if _PAUSES.issuperset(text):
            return _BETWEEN
        words = self._content([] if text in self._skipped else self.words.normalized(text))
        token = self._of_words(words)
        lowered, classes = text.lower(), self.words.classes
        is_adverb = self._phrases.is_adverb(lowered)
        # A stem is shorter than its word.
        is_stem = token.kind == WORD and classes.stemmer
        return token._replace(
            letters=sum(map(str.isalnum, text)) if is_stem else token.letters,
            kind=ADVERB if is_adverb and token.size == 1 else token.kind,
            starts_latin=_is_latin(text[0]),
            ends_latin=_is_latin(text[-1]),
            is_adverb=is_adverb,
            is_preposition=lowered in self._owning,
            precedes_noun=lowered in self._before_nouns,
            is_copula=text in classes.copulas,
            forms=self._forms(words),
        )

    def _content(self, words: Iterable[str]) -> tuple[str, ...]:
        return tuple(word for word in words if word not in self.words.classes.function_words)

    def _of_words(self, words: tuple[str, ...]) -> _Token:
        if not words:
            return _SMALL
        return _Token(hash_bag(words), len(words), sum(map(count_letters, words)), WORD)

    def _forms(self, words: Sequence[str]) -> Forms:
        """List what a token may stand for by itself: nouns for an adjective, "second" for "2nd".

        words (Sequence[str]): Its content words.
        RETURNS (Forms): The forms.
        """
        if len(words) == 1:
            return self.words.forms.of(words[0])
        if self.words.classes.compound_heads:  # "Typ-2-Diabetes"
            return self._forms_of_parts(words, is_owned=False)
        ordinal = self.words.forms.ordinals.get("".join(words))
        if ordinal:
            return Forms.of([(hash_word(ordinal), 2, 1.0, False)])
        is_numbered = len(words) > 1 and words[0].isalpha() and words[1][0].isdigit()
        return self._forms_of_numbered(words[0], tuple(words[1:])) if is_numbered else NO_FORMS

    def _forms_of_numbered(self, letters: str, number: tuple[str, ...]) -> Forms:
        """List what a short form with a number may stand for, as the ontology's other names show:
        "spinocerebellar ataxia 28" for "SCA28", if one is "SCA1". That both have the number halves
        the doubt.

        letters (str): Its letters.
        number (Tuple[str, ...]): Its other words.
        RETURNS (Forms): The forms.
        """
        values = np.array([hash_word(letters)], "uint64")
        least_certain = 2 * self._min_certainty - 1
        _, changes, certainty, company = self._names.substitutions(values, least_certain)
        is_free = company == 0
        hashes = values + changes[is_free] + np.uint64(hash_bag(number))
        size, certainty = len(hashes), (1 + certainty[is_free]) / 2
        return Forms(hashes, np.ones(size, "int64"), certainty, np.zeros(size, "bool"))

    def _forms_of_parts(self, words: Sequence[str], *, is_owned: bool) -> Forms:
        """List what several words together may stand for: other words for one of them. It is never
        by itself.

        words (Sequence[str]): The words.
        is_owned (bool): Whether the last one may stand for an adjective.
        RETURNS (Forms): The forms.
        """
        value, parts = hash_bag(self._content(words)), []
        for place, word in enumerate(words, start=1):
            forms = self.words.forms.of(word)
            if not (is_owned and place == len(words)):
                forms = forms.where(~forms.are_adjectives)
            rest = np.uint64((value - hash_word(word)) % MODULUS)
            parts.append(forms._replace(hashes=forms.hashes + rest))
        joined = Forms.joined(parts)
        return joined._replace(
            least=np.ones_like(joined.least), are_adjectives=np.zeros_like(joined.are_adjectives)
        )

    def _read_long_forms(
        self, long_forms: Sequence[tuple[str, ...]]
    ) -> dict[tuple[str, ...], Forms]:
        """List what short forms may stand for: other words for one of the long form, and
        "exertional" for "dyspnea on exertion".

        long_forms (Sequence[Tuple[str, ...]]): The words of each long form.
        RETURNS (Dict[Tuple[str, ...], Forms]): The forms, by the words.
        """
        forms = [
            self._forms_of_parts(words, is_owned=not self._owning.isdisjoint(words[:-1]))
            for words in long_forms
        ]
        return dict(zip(long_forms, self._of_names(forms), strict=True))

    def _join(self, tokens: TokenArrays, texts: JoinedTexts, is_split: np.ndarray) -> list[int]:
        """Join the parts of words that the tokenizer splits, as spaCy's does with "can't" and
        "cannot". Names are not split.

        tokens (TokenArrays): Changed in place.
        texts (JoinedTexts): Their texts.
        is_split (np.ndarray): bool (t - 1,): whether a token and the next are parts of one word.
        RETURNS (List[int]): The tokens of these words.
        """
        joined = list[int]()
        starts = np.flatnonzero(is_split & ~np.concatenate([[False], is_split[:-1]])).tolist()
        for first in starts:
            last = first + 1
            while last <= len(is_split) and is_split[last - 1]:
                last += 1
            words = self.words.normalized(texts.part(first, last))
            joined += self._set_words(tokens, first, last, words)
        return joined

    def _leave_out_verbs(self, tokens: TokenArrays, texts: JoinedTexts) -> None:
        """Leave out the verbs of statements, which names do not have, but for what denies an
        everyday phrase.

        tokens (TokenArrays): Changed in place.
        texts (JoinedTexts): Their texts.
        """
        lowered = lower_in_place(texts.text)
        verbs = list(self._phrases.find_verbs(lowered))
        for first, last in np.searchsorted(texts.starts, verbs).reshape(-1, 2).tolist():
            # A colon may be a part of a token.
            tokens.are_added[max(0, first - 1) : last] = True
            for column, value in zip(tokens[:4], (0, 0, 0, VERB), strict=True):
                column[first:last] = value
            tokens.ends[first:last] = np.arange(first + 1, last + 1)
        for start, end, denial in self._phrases.find_denials(lowered):
            first, last = np.searchsorted(texts.starts, (start, end)).tolist()
            tokens.are_added[first:last] = True
            self._set_words(tokens, first, last, [denial])

    def _expand(
        self, tokens: TokenArrays, doc: Doc, start: int
    ) -> Iterator[tuple[range, tuple[str, ...]]]:
        """Replace the words of a document's short forms by those of their long forms.

        tokens (TokenArrays): Changed in place.
        doc (Doc): The document.
        start (int): Its first token.
        YIELDS (Tuple[range, Tuple[str, ...]]): The tokens of each short form, and the words.
        """
        abbreviations = read_abbreviations(doc)
        for span in abbreviation_spans(doc):
            long_form = abbreviations.long_form(span.text, span.end_char - 1)
            parts = self._parts(span, long_form) if long_form else []
            for part, text in parts:
                words = tuple(self.words.normalized(text))
                first, last = start + part.start, start + part.end
                tokens.written[first] = tokens.hashes[first:last].sum()
                yield self._set_words(tokens, first, last, words), words
            if len(parts) == 1 and _is_in_brackets(span):
                tokens.kinds[[start + span.start - 1, start + span.end]] = BRACKET

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

    def _set_words(self, tokens: TokenArrays, first: int, last: int, words: Sequence[str]) -> range:
        """Assign words to several tokens together.

        tokens (TokenArrays): Changed in place.
        first (int): The first of them, which gets the words.
        last (int): The token after them.
        words (Sequence[str]): The words.
        RETURNS (range): The tokens.
        """
        token = self._of_words(self._content(words))
        for column, value in zip(tokens[:5], (*token[:4], last), strict=True):
            column[first] = value
        tokens.kinds[first + 1 : last] = FILLER
        return range(first, last)
