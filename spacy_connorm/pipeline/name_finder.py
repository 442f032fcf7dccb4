"""From documents to the windows that have the words of a name."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span

from ..index.filters import Filter, allowed_concepts
from ..linker.known_names import KnownName, KnownNames
from ..linker.name_rules import NameRules
from ..linker.name_windows import find_windows
from ..linker.retriever import Retriever
from ..text.word_bags import hash_bag, word_bag
from .found_mentions import FoundMention
from .token_words import TokenWords

_KNOWN = 1.0
_NO_NAME = "no name has these words"


class NameFinder:
    """Finds the names of one index, with the synonyms added to it until now. It never changes."""

    def __init__(
        self,
        retriever: Retriever,
        settings: Mapping[str, Any],
        limits: Filter,
        token_words: TokenWords,
    ) -> None:
        """Store the parts.

        retriever (Retriever): Has the index and the synonyms added to it.
        settings (Mapping[str, Any]): See `finder_settings`.
        limits (Filter): Which concepts the normalizer may find.
        token_words (TokenWords): Reads the documents.
        RAISES (ConnormError): CN412 if an older version built the index, CN406 and CN407 for types
            and branches that it lacks.
        """
        self.retriever = retriever
        self.settings = dict(settings)
        self.limits = limits
        self.names = KnownNames(
            retriever.index,
            retriever.overlay,
            allowed_concepts(limits, retriever.index),
            settings["target"],
        )
        self._tokens = token_words
        self._labels: dict[int, str] = {}
        self._rules = NameRules(
            settings["min_letters"],
            settings["short_letters"],
            tuple(settings["stop_texts"]),
            tuple(settings["everyday_words"]),
            tuple(settings["steps"]),
        )

    def is_current(self, retriever: Retriever, settings: Mapping[str, Any], limits: Filter) -> bool:
        """RETURNS (bool): Whether a finder of these would find the same."""
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
        RETURNS (List[List[FoundMention]]): All windows by document, also those that overlap.
        """
        self.retriever.index.require_sound()
        return [
            [
                FoundMention(start, end, _KNOWN, self._label(value))
                for start, end, value, reason in windows
                if not reason
            ]
            for windows in self._windows(docs)
        ]

    def _windows(self, docs: Sequence[Doc]) -> list[list[tuple[int, int, int, str]]]:
        """RETURNS (List[List[Tuple[int, int, int, str]]]): By document: first token, the token
        after, hash of the words, and why it is no mention.
        """
        expand = self.settings["expand_abbreviations"]
        tokens = self._tokens.read(docs, expand_abbreviations=expand)
        windows = find_windows(tokens, self.names, max_words=self.settings["max_words"])
        order = np.argsort(windows.starts, kind="stable")
        columns = [column[order].tolist() for column in windows]
        offsets = np.cumsum([0, *(len(doc) + 1 for doc in docs)])
        bounds = np.searchsorted(windows.starts[order], offsets).tolist()
        found = []
        for number, (doc, (first, last)) in enumerate(zip(docs, pairwise(bounds), strict=True)):
            before = int(offsets[number])
            found.append(
                [
                    (start - before, end - before, value, reason)
                    for start, end, value, letters in zip(
                        *(column[first:last] for column in columns), strict=True
                    )
                    for reason in [self._reason(doc, start - before, end - before, value, letters)]
                ]
            )
        return found

    def _reason(self, doc: Doc, start: int, end: int, value: int, letters: int) -> str:
        text = doc[start:end].text
        return self._rules.reason(value, letters, text, self.names.names(value))

    def is_name(self, text: str) -> bool:
        """RETURNS (bool): Whether a text by itself would be a mention."""
        bag = word_bag(text)
        value, letters = hash_bag(bag), sum(map(len, bag))
        return not self._rules.reason(value, letters, text, self.names.names(value))

    def explain(self, span: Span) -> tuple[str, tuple[KnownName, ...]]:
        """Tell whether a span has the words of a name.

        span (Span): The span.
        RETURNS (Tuple[str, Tuple[KnownName, ...]]): Why it is no mention, empty if it is one; and
            the names with its words.
        """
        (windows,) = self._windows([span.doc])
        for start, end, value, reason in windows:
            if (start, end) == (span.start, span.end):
                return reason, self.names.names(value)
        return _NO_NAME, ()

    def _label(self, value: int) -> str:
        if value not in self._labels:
            types = [
                each
                for name in self.names.names(value)
                for each in self.retriever.index.store.concept(name.concept).types
            ]
            labels = self.settings["labels"]
            known = types if labels is None else [labels[each] for each in types if each in labels]
            self._labels[value] = known[0] if known else self.settings["label"]
        return self._labels[value]
