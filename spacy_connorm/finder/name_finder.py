"""Find the windows of documents that have the words of a name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..documents.token_texts import JoinedTexts
from ..documents.written_ids import ids_beside, look_like_ids
from ..errors import refuse_text
from ..index.cache import Cache
from ..index.filter import Filter
from ..index.search import TARGETS
from ..linker.query import Query
from ..linker.retriever import Retriever
from ..text.bag_hashes import hash_bag, hash_bags
from .distinctive_words import DistinctiveWords
from .found_mentions import FoundMention, FoundWindows, MentionExplanation, RefusedWindow
from .genera import Genera
from .known_names import KnownNames
from .long_forms import LongForms
from .misspelled import MisspelledWords
from .name_edges import Edge, edges_of, widen
from .name_windows import Replacements, TokenArrays, Windows, find_other_names, find_windows
from .paraphrases import Paraphrase, ParaphraseFinder, choose_paraphrases, has_paraphrases
from .phrases import TOKEN
from .rules import ABOUT_ORDER, REASONS, Judge
from .token_words import TokenWords
from .truncated import TruncatedWords
from .unspaced import find_unspaced
from .window import DocumentWindows, RuleContext, Window

_CACHED = 100_000
_QUERIES = 4
_LINE = "\n"
_LINE_END = re.compile(r"[-\u2010\u2011] ?\n ?")
_NO_NAME = MentionExplanation(False, "no name has these words", ())


@dataclass(eq=False)
class NameFinder:
    """Finds the names of one index, including the synonyms added to it so far. It never changes.

    retriever (Retriever): The index and the synonyms added to it.
    settings (Mapping[str, Any]): The settings; see `FinderSettings`.
    limits (Filter): The concepts that the normalizer may find.
    RAISES (ConnormError): CN406 for types and branches that the index lacks.
    """

    retriever: Retriever
    settings: Mapping[str, Any]
    limits: Filter

    def __post_init__(self) -> None:
        index, settings = self.retriever.index, self.settings
        allowed, target = self.retriever.allowed(self.limits), TARGETS[settings["target"]]
        self.names = KnownNames(
            index, self.retriever.overlay, allowed, target, settings["inexact_names"]
        )
        self._token_words = TokenWords(self.names, min_certainty=settings["min_certainty"])
        self._misspelled = MisspelledWords(self.names)
        self._genera = Genera(self.names)
        self._truncated = TruncatedWords(self.names)
        self._labels: Cache[int, str] = Cache(_CACHED)
        self._edges: Cache[int, tuple[Edge, ...]] = Cache(_CACHED)
        self._own_names: Cache[str, str | None] = Cache(_CACHED)
        self._paraphrases: Cache[tuple, ParaphraseFinder] = Cache(_QUERIES)
        self._judge = Judge()
        self._context = RuleContext(self.names, LongForms(index), settings)
        self._distinctive = DistinctiveWords(self.names, self._context.stopped)

    def is_current(self, retriever: Retriever, settings: Mapping[str, Any], limits: Filter) -> bool:
        """Check whether a finder with these arguments would find the same.

        RETURNS (bool): True if it would.
        """
        mine = self.retriever
        has_same_names = retriever.index is mine.index and retriever.overlay is mine.overlay
        return has_same_names and settings == self.settings and limits == self.limits

    def find(self, docs: Sequence[Doc]) -> list[FoundWindows]:
        """Find the names in documents.

        docs (Sequence[Doc]): The documents.
        RETURNS (List[FoundWindows]): All windows by document, including overlapping ones.
        """
        texts = JoinedTexts(docs)
        places = self._places(texts)
        mentioned = [[window for window in place.windows if not window.rule] for place in places]
        values = {window.value for windows in mentioned for window in windows}
        labels = self._labels.get_all(values, self._read_labels)
        found = [_mentions(windows, labels) for windows in mentioned]
        ids = {text: self.names.allowed_concept(text) for text in look_like_ids(texts.distinct)}
        numbers = {text: number for text, number in ids.items() if number is not None}
        for number in range(len(docs)) if numbers else ():
            own = texts.document(number).texts
            found[number] += self._ids(own, mentioned[number], numbers)
        return [
            FoundWindows(mentions, _refused(place.windows))
            for mentions, place in zip(found, places, strict=True)
        ]

    def find_paraphrases(
        self, docs: Sequence[Doc], found: Sequence[FoundWindows], query: Query
    ) -> list[list[FoundMention]]:
        """Find what says the same as a name in other words, beside the mentions of documents.

        docs (Sequence[Doc]): The documents.
        found (Sequence[FoundWindows]): Their mentions, and what was refused.
        query (Query): How the normalizer searches.
        RETURNS (List[List[FoundMention]]): The paraphrases by document.
        """
        least = self.settings["min_paraphrase"]
        return [
            list(self._as_mentions(choose_paraphrases(own, least)))
            for own in self.list_paraphrases(docs, found, query)
        ]

    def list_paraphrases(
        self, docs: Sequence[Doc], found: Sequence[FoundWindows], query: Query
    ) -> list[list[Paraphrase]]:
        """List all that may be a paraphrase, whatever its probability.

        docs (Sequence[Doc]): As for `find_paraphrases`, like the others.
        RETURNS (List[List[Paraphrase]]): The paraphrases by document, some of which overlap.
        """
        if not has_paraphrases(self.retriever.index):
            return [[] for _ in docs]
        finders = (self._distinctive, self._paraphrase_finder(query))
        parts = (finder.list_all(docs, found) for finder in finders)
        return [[*words, *near] for words, near in zip(*parts, strict=True)]

    def _paraphrase_finder(self, query: Query) -> ParaphraseFinder:
        """RETURNS (ParaphraseFinder): The same object for the same searches."""
        # Everything that its answers depend on, besides what this finder depends on itself.
        settings = query.sieve, query.rescorers
        finder = self._paraphrases.get(settings)
        if finder is None:
            stopped, short_letters = self._context.stopped, self.settings["short_letters"]
            finder = ParaphraseFinder(self.retriever, query, stopped, short_letters)
            self._paraphrases.put(settings, finder)
        return finder

    def _as_mentions(self, paraphrases: Iterable[Paraphrase]) -> Iterator[FoundMention]:
        index = self.retriever.index
        for start, end, concept_id, features, name in paraphrases:
            number = index.number(concept_id)
            label = self._label_of(index.store.types_of([number])[number])
            yield FoundMention(start, end, features.probability, label, name)

    def _ids(
        self, texts: Sequence[str], windows: Iterable[Window], numbers: Mapping[str, int]
    ) -> Iterator[FoundMention]:
        """Find the ids that stand in place of a name: "HP:0001250, HP:0000252". Those beside a
        mention belong to it.

        YIELDS (FoundMention): The id, with the preferred name of its concept.
        """
        beside = {
            place for window in windows for place in ids_beside(texts, window.start, window.end)
        }
        store = self.retriever.index.store
        for place, text in enumerate(texts):
            if text in numbers and place not in beside:
                number = numbers[text]
                label = self._label_of(store.types_of([number])[number])
                name = store.labels([number])[number][1]
                yield FoundMention(place, place + 1, 1.0, label, name)

    def read(self, texts: JoinedTexts) -> TokenArrays:
        """Convert the tokens of documents to arrays.

        texts (JoinedTexts): The documents.
        RETURNS (TokenArrays): The tokens of each document, followed by a break.
        """
        derivations = self.settings["derivations"]
        tokens = self._token_words.read(texts, derivations=derivations)
        if not derivations:
            return tokens
        readings = [
            tokens.readings,
            self._misspelled.read(texts, tokens),
            self._genera.read(texts, tokens),
            self._truncated.read(texts, tokens),
        ]
        return tokens._replace(readings=Replacements.joined(readings))

    def _places(self, texts: JoinedTexts) -> list[DocumentWindows]:
        """Find the windows with the words of names, and those that can stand for them, and judge
        them.
        """
        tokens, windows = self._named(texts)
        places = [*self._read_places(texts, tokens, windows, range(len(texts.docs)))]
        for place in places:
            self._judge.judge(place.windows)
        return places

    def _read_places(
        self, texts: JoinedTexts, tokens: TokenArrays, windows: Windows, numbers: Sequence[int]
    ) -> Iterator[DocumentWindows]:
        """Read the windows of some documents."""
        rows, words = texts.by_document(windows.starts), self._context.words
        known = self.names.names_of(
            chain.from_iterable(windows.hashes[rows[number]].tolist() for number in numbers)
        )
        edges = self._edges.get_all(
            known,
            lambda missing: {
                value: edges_of((name.text for name in known[value]), words) for value in missing
            },
        )
        starts, ends = find_other_names(tokens, self.names.index.other_names)
        others = texts.by_document(starts)
        for number in numbers:
            own, other = texts.document(number), others[number]
            own_tokens = slice(own.first, own.first + len(own.texts))
            inside = zip(starts[other] - own.first, ends[other] - own.first, strict=True)
            hashes, added = tokens.hashes[own_tokens], tokens.are_added[own_tokens].tolist()
            place = DocumentWindows(texts.docs[number], own, hashes, [*inside])
            for first, last, value, letters, score, has_pause in zip(
                *(column[rows[number]].tolist() for column in windows), strict=True
            ):
                names = known[value]
                start, end = widen(own, first - own.first, last - own.first, edges[value], words)
                text = own.part(start, end)
                if _LINE in text:
                    text = _LINE_END.sub("-", text)
                if True in added[start:end]:
                    text = self._token_words.simplify(text, names, has_pause=has_pause)
                window = Window(
                    place, start, end, text, value, letters, score, has_pause, names, self._context
                )
                place.windows.append(window)
            yield place

    def _named(self, texts: JoinedTexts) -> tuple[TokenArrays, Windows]:
        """Read documents, and find the windows with the words of names."""
        tokens = self.read(texts)
        parts = [
            find_windows(tokens, self.names, min_certainty=self.settings["min_certainty"]),
            find_unspaced(texts, self.names),
        ]
        return tokens, Windows(*map(np.concatenate, zip(*parts, strict=True)))

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
        wholes = self._wholes(texts, vocab)
        names: dict[str, str | None] = {}
        for text in texts:
            mentions = [window for window in wholes.get(text, ()) if not window.rule]
            best = max(mentions, key=lambda window: window.score, default=None)
            names[text] = None if best is None else best.name
        return names

    def _wholes(self, texts: Sequence[str], vocab: Vocab) -> dict[str, list[Window]]:
        """Judge texts by themselves: as they are, and with words replaced."""
        joined = JoinedTexts([_doc_of(text, vocab) for text in texts])
        tokens, windows = self._named(joined)
        are_whole = _have_whole(joined, tokens, windows)
        are_names = self.names.contain(hash_bags(map(self._context.words.known_bag, texts)))
        # Few of the parts that coordinations might have; all others need no judgement.
        numbers = np.flatnonzero(are_whole | are_names).tolist()
        places = self._read_places(joined, tokens, windows, numbers)
        wholes = dict[str, list[Window]]()
        for number, place in zip(numbers, places, strict=True):
            place.windows.append(self._whole(texts[number], place))
            self._judge.judge(place.windows)
            wholes[texts[number]] = [window for window in place.windows if window.is_whole]
        return wholes

    def _whole(self, text: str, place: DocumentWindows) -> Window:
        bag, end = self._context.words.known_bag(text), len(place.doc)
        value, letters = hash_bag(bag), sum(map(len, bag))
        names = self.names.names(value)
        return Window(place, 0, end, text, value, letters, 1.0, False, names, self._context)

    def explain(self, span: Span) -> MentionExplanation:
        """Check whether a span has the words of a name.

        span (Span): The span.
        RETURNS (MentionExplanation): The rule by which it is not a mention, if there is one, and
            the names with its words.
        RAISES (ConnormError): CN006 for anything else.
        """
        if not isinstance(span, Span):
            refuse_text("span", span, "a span")
        (place,) = self._places(JoinedTexts([span.doc]))
        windows = [
            window
            for window in place.windows
            if (window.start, window.end) == (span.start, span.end)
        ]
        if not windows:
            wholes = self._wholes([span.text], span.vocab).get(span.text, ())
            windows = [window for window in wholes if window.known and window.rule]
        if not windows:
            return _NO_NAME
        # Several names may have its words, or words that these derive from.
        best = min(windows, key=lambda window: (bool(window.rule), -window.score))
        names = tuple(dict.fromkeys(name.text for name in best.known))
        reason = REASONS.get(best.rule, "")
        return MentionExplanation(not reason, reason, names, best.rule)

    def _read_labels(self, values: Sequence[int]) -> dict[int, str]:
        names = self.names.names_of(values)
        concepts = {name.concept for group in names.values() for name in group}
        types = self.retriever.index.store.types_of(concepts)
        return {
            value: self._label_of(chain.from_iterable(types[name.concept] for name in group))
            for value, group in names.items()
        }

    def _label_of(self, types: Iterable[str]) -> str:
        labels = self.settings["labels"]
        known = types if labels is None else (labels[kind] for kind in types if kind in labels)
        return next(filter(None, known), self.settings["label"])


def _have_whole(texts: JoinedTexts, tokens: TokenArrays, windows: Windows) -> np.ndarray:
    """Check which of n documents have a window with all their words.

    RETURNS (np.ndarray): bool (n,).
    """
    words = np.flatnonzero(tokens.are_words)
    first, last = np.searchsorted(words, (windows.starts, windows.ends))
    bounds = np.searchsorted(words, texts.offsets)
    number = np.searchsorted(texts.offsets, windows.starts, side="right") - 1
    are_whole = np.zeros(len(texts.docs), dtype="bool")
    are_whole[number[(first == bounds[number]) & (last == bounds[number + 1])]] = True
    return are_whole


def _doc_of(text: str, vocab: Vocab) -> Doc:
    words = [*TOKEN.finditer(text)]
    spaces = [text[word.end() : word.end() + 1] == " " for word in words]
    return Doc(vocab, [word[0] for word in words], spaces)


def _refused(windows: Iterable[Window]) -> list[RefusedWindow]:
    return [
        RefusedWindow(window.start, window.end, frozenset(name.concept for name in window.known))
        for window in windows
        if window.rule and window.rule not in ABOUT_ORDER
    ]


def _mentions(windows: Sequence[Window], labels: Mapping[int, str]) -> list[FoundMention]:
    mentions: dict[tuple[int, int], FoundMention] = {}
    # A full name is preferred to one inverted at a comma: "a deficiency, B12 deficiency".
    plain = {
        (window.value, token)
        for window in windows
        if not window.has_pause
        for token in range(window.start, window.end)
    }
    for window in windows:
        start, end = window.start, window.end
        if window.has_pause and any((window.value, token) in plain for token in range(start, end)):
            continue
        known = mentions.get((start, end))
        if known is None or known.score < window.score:
            label, name = labels[window.value], window.closest_name
            mentions[start, end] = FoundMention(start, end, window.score, label, name)
    return list(mentions.values())
