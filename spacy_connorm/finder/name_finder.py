"""Find the windows of documents that have the words of a name."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..errors import refuse_text
from ..index.cache import Cache
from ..index.filter import Filter, allowed_concepts
from ..index.search import TARGETS
from ..linker.retriever import Retriever
from ..text.bag_hashes import hash_bag
from ..text.words import words_of
from .context_rules import OTHER_WORD, context_reason
from .found_mentions import FoundMention
from .known_names import KnownName, KnownNames, closest_name
from .name_edges import Edge, edges_of, stands_alone, widen
from .name_rules import CUT_NAME, NO_CAPITAL, NameRules, uncertain_reason
from .name_windows import TokenArrays, find_windows
from .short_forms import UNDEFINED, LongForms
from .token_words import TokenWords, by_document, document_offsets

_EN = words_of("en")
content_words = _EN.content
word_bag = _EN.bag
COPULAS = _EN.classes.copulas
PREPOSITIONS = _EN.classes.prepositions

_CACHED = 100_000
_TOKENS = re.compile(r"\w+|[^\w\s]")
_LINE_END = re.compile(r"[-\u2010\u2011] ?\n ?")
_WITH = re.compile(r"(?i)\bw/(?!o\b)")
_JOINTS = PREPOSITIONS | COPULAS
_NO_NAME = "no name has these words"


class _Window(NamedTuple):
    """A window of a document.

    start (int): Its first token.
    end (int): The token after it.
    value (int): The hash of the words of the names that it may stand for.
    score (float): 1.0 if it has these words itself, less if some of its words are replaced.
    has_pause (bool): Whether there is punctuation between its words.
    reason (str): Why it is not a mention; empty if it is.
    name (str): The name that it is, as written in the index; empty if it can only be rewritten as
        one.
    """

    start: int
    end: int
    value: int
    score: float
    has_pause: bool
    reason: str
    name: str


@dataclass(eq=False)
class NameFinder:
    """Finds the names of one index, including the synonyms added to it so far. It never changes.

    retriever (Retriever): The index and the synonyms added to it.
    settings (Mapping[str, Any]): The settings; see `FinderSettings`.
    limits (Filter): The concepts that the normalizer may find.
    token_words (TokenWords): Reads the documents.
    RAISES (ConnormError): CN406 for types and branches that the index lacks.
    """

    retriever: Retriever
    settings: Mapping[str, Any]
    limits: Filter
    token_words: TokenWords

    def __post_init__(self) -> None:
        index, settings = self.retriever.index, dict(self.settings)
        allowed, target = allowed_concepts(self.limits, index), TARGETS[settings["target"]]
        self.settings = settings
        self.names = KnownNames(
            index, self.retriever.overlay, allowed, target, settings["inexact_names"]
        )
        self._labels: Cache[int, str] = Cache(_CACHED)
        self._edges: Cache[int, tuple[Edge, ...]] = Cache(_CACHED)
        self._own_names: Cache[str, str | None] = Cache(_CACHED)
        self._long_forms = LongForms(index.store)
        self._rules = NameRules(
            settings["min_letters"],
            settings["short_letters"],
            tuple(settings["stop_texts"]),
            settings["match_capitals"],
        )

    def is_current(self, retriever: Retriever, settings: Mapping[str, Any], limits: Filter) -> bool:
        """Check whether a finder with these arguments would find the same.

        RETURNS (bool): True if it would.
        """
        mine = self.retriever
        return (
            retriever.index is mine.index
            and retriever.overlay is mine.overlay
            and settings == self.settings
            and limits == self.limits
        )

    def find(self, docs: Sequence[Doc]) -> list[list[FoundMention]]:
        """Find the names in documents.

        docs (Sequence[Doc]): The documents.
        RETURNS (List[List[FoundMention]]): All windows by document, including overlapping ones.
        """
        found = [[each for each in own if not each.reason] for own in self._windows(docs)]
        values = {each.value for windows in found for each in windows}
        labels = self._labels.get_all(values, self._read_labels)
        names = self.names.names_of([*values])
        return [
            _mentions([_with_name(doc, each, names[each.value]) for each in windows], labels)
            for doc, windows in zip(docs, found, strict=True)
        ]

    def read(self, docs: Sequence[Doc]) -> TokenArrays:
        """Convert the tokens of documents to arrays.

        RETURNS (TokenArrays): The tokens of each document, followed by a break.
        """
        return self.token_words.read(docs, derivations=self.settings["derivations"])

    def _windows(self, docs: Sequence[Doc]) -> list[list[_Window]]:
        """Find the windows that may be mentions."""
        tokens = self.read(docs)
        windows = find_windows(tokens, self.names, min_certainty=self.settings["min_certainty"])
        offsets = document_offsets(docs)
        numbers = by_document(windows.starts, offsets)
        known = self.names.names_of(windows.hashes.tolist())
        edges = self._edges.get_all(
            known,
            lambda missing: {each: edges_of(name.text for name in known[each]) for each in missing},
        )
        found = [
            [
                self._window(doc, before, row, known[row[2]], edges[row[2]])
                for row in zip(*(column[own].tolist() for column in windows), strict=True)
            ]
            for doc, before, own in zip(docs, offsets, numbers, strict=False)
        ]
        found = [
            _without_parts(_without_cut_names(doc, own, known))
            for doc, own in zip(docs, found, strict=True)
        ]
        if self.settings["match_capitals"]:
            found = [
                _without_everyday_words(doc, own, known)
                for doc, own in zip(docs, found, strict=True)
            ]
        if self.settings["undefined_short_forms"]:
            return found
        words = (tokens.hashes[start : end - 1] for start, end in pairwise(offsets))
        return [self._defined(own, known, each) for own, each in zip(found, words, strict=True)]

    def _defined(
        self,
        windows: list[_Window],
        known: Mapping[int, Sequence[KnownName]],
        words: np.ndarray,
    ) -> list[_Window]:
        """Mark the windows of short forms that a document with these words does not define."""
        names = {each.name: known[each.value] for each in windows if each.name}
        undefined = self._long_forms.undefined(words, names)
        if not undefined:
            return windows
        return [
            each._replace(reason=UNDEFINED, name="") if each.name in undefined else each
            for each in windows
        ]

    def _window(
        self,
        doc: Doc,
        before: int,
        row: tuple[Any, ...],
        names: Sequence[KnownName],
        edges: Sequence[Edge],
    ) -> _Window:
        """Read a window of a document, which begins after some tokens of other documents, from its
        row of `Windows`.
        """
        first, last, value, letters, score, has_pause = row
        start, end = widen(doc, first - before, last - before, edges, names)
        text = _WITH.sub("with", _LINE_END.sub("-", doc[start:end].text))
        is_alone = not has_pause or stands_alone(doc, start, end)
        reason = self._rules.reason(
            value, letters, text, names, has_pause=has_pause, is_alone=is_alone
        ) or context_reason(doc, start, end, text, is_certain=score == 1)
        if score < 1 and not reason:
            reason = uncertain_reason(text, names)
        name = "" if reason or score < 1 else closest_name(text, names)
        return _Window(start, end, value, score, has_pause, reason, name)

    def names_among(self, texts: Iterable[str], vocab: Vocab) -> dict[str, str]:
        """Find the texts that would be mentions on their own.

        texts (Iterable[str]): Any texts.
        vocab (Vocab): The vocabulary for their words.
        RETURNS (Dict[str, str]): Those with the words of a name, and this name, as written in the
            index; and those with synonyms of these words, with an empty one.
        """
        names = self._own_names.get_all(texts, lambda missing: self._read_names(missing, vocab))
        return {text: name for text, name in names.items() if name is not None}

    def _read_names(self, texts: Sequence[str], vocab: Vocab) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for text in texts:
            reason, names = self._own_reason(text)
            found[text] = None if reason else closest_name(text, names)
        docs = {text: _doc_of(text, vocab) for text, name in found.items() if name is None}
        for text, windows in zip(docs, self._windows([*docs.values()]), strict=True):
            whole = (0, len(docs[text]))
            own = [each for each in windows if (each.start, each.end) == whole and not each.reason]
            if own:
                found[text] = max(own, key=lambda each: each.score).name
        return found

    def _own_reason(self, text: str) -> tuple[str, tuple[KnownName, ...]]:
        """Explain why a text by itself is not a mention, without replacing any of its words.

        RETURNS (Tuple[str, Tuple[KnownName, ...]]): The reason, empty if it is one, and the names
            with its words.
        """
        bag = word_bag(text)
        value = hash_bag(bag)
        names = self.names.names(value)
        return self._rules.reason(value, sum(map(len, bag)), text, names), names

    def explain(self, span: Span) -> tuple[str, tuple[KnownName, ...]]:
        """Check whether a span has the words of a name.

        span (Span): The span.
        RETURNS (Tuple[str, Tuple[KnownName, ...]]): Why it is not a mention (empty if it is), and
            the names with its words.
        RAISES (ConnormError): CN006 for anything else.
        """
        if not isinstance(span, Span):
            refuse_text("span", span, "a span")
        (windows,) = self._windows([span.doc])
        own = [each for each in windows if (each.start, each.end) == (span.start, span.end)]
        if not own:
            reason, names = self._own_reason(span.text)
            return reason if names and reason else _NO_NAME, names
        # Several names may have its words, or words that these derive from.
        best = min(own, key=lambda window: (bool(window.reason), -window.score))
        return best.reason, self.names.names(best.value)

    def _read_labels(self, values: Sequence[int]) -> dict[int, str]:
        names = self.names.names_of(values)
        concepts = {name.concept for own in names.values() for name in own}
        types = self.retriever.index.store.types_of(concepts)
        return {
            value: self._label_of(chain.from_iterable(types[name.concept] for name in own))
            for value, own in names.items()
        }

    def _label_of(self, types: Iterable[str]) -> str:
        labels = self.settings["labels"]
        known = types if labels is None else (labels[each] for each in types if each in labels)
        return next(filter(None, known), self.settings["label"])


def _without_cut_names(
    doc: Doc, windows: list[_Window], known: Mapping[int, Sequence[KnownName]]
) -> list[_Window]:
    """Mark the windows that cut the last word off a name and have it elsewhere in their own: a
    Wilms tumor of the left kidney is no renal tumor, nor are stem cells in the bone marrow bone
    marrow cells.
    """
    heads = {each.end - 1 for each in windows if each.name and each.end - each.start > 1}
    return [
        each._replace(reason=CUT_NAME, name="")
        if each.start in heads
        and not each.reason
        and any(token.lower_ in _JOINTS for token in doc[each.start + 1 : each.end])
        and not _starts_alike(doc[each.start].text, known[each.value])
        else each
        for each in windows
    ]


def _without_parts(windows: list[_Window]) -> list[_Window]:
    """Mark the windows inside one that the word after it gives another meaning: there is no
    hepatitis in a hepatitis B vaccine.
    """
    others = [range(each.start, each.end) for each in windows if each.reason == OTHER_WORD]
    if not others:
        return windows
    return [
        each._replace(reason=OTHER_WORD, name="")
        if any(each.start in other and each.end <= other.stop for other in others)
        else each
        for each in windows
    ]


def _starts_alike(word: str, names: Iterable[KnownName]) -> bool:
    first = content_words(word)[:1]
    return any(content_words(each.text)[:1] == first for each in names)


def _without_everyday_words(
    doc: Doc, windows: list[_Window], known: Mapping[int, Sequence[KnownName]]
) -> list[_Window]:
    """Mark the windows of capitalized names that the document mostly has as everyday words: in one
    with "unpublished data", "Data" is no genus; KIT stays a gene beside a "kit".
    """
    counts = Counter(token.text for token in doc)
    return [
        each._replace(reason=NO_CAPITAL, name="")
        if each.name
        and not each.name.isupper()
        and counts[each.name.lower()] >= counts[each.name]
        and counts[each.name.lower()]
        and not any(name.text.islower() for name in known[each.value])
        else each
        for each in windows
    ]


def _doc_of(text: str, vocab: Vocab) -> Doc:
    words = [*_TOKENS.finditer(text)]
    spaces = [text[each.end() : each.end() + 1] == " " for each in words]
    return Doc(vocab, [each[0] for each in words], spaces)


def _with_name(doc: Doc, window: _Window, names: Sequence[KnownName]) -> _Window:
    """Name a window some of whose words are replaced."""
    if window.name:
        return window
    return window._replace(name=closest_name(doc[window.start : window.end].text, names))


def _mentions(windows: Sequence[_Window], labels: Mapping[int, str]) -> list[FoundMention]:
    found: dict[tuple[int, int], FoundMention] = {}
    # A full name is preferred to one inverted at a comma: "a deficiency, B12 deficiency".
    plain = {
        (each.value, place)
        for each in windows
        if not each.has_pause
        for place in range(each.start, each.end)
    }
    for each in windows:
        places = range(each.start, each.end)
        if each.has_pause and any((each.value, place) in plain for place in places):
            continue
        known = found.get((each.start, each.end))
        if known is None or known.score < each.score:
            mention = FoundMention(*each[:2], each.score, labels[each.value], each.name)
            found[each.start, each.end] = mention
    return list(found.values())
