"""Sets of documents on which rows of the tables of English and rules of the mention finder are left
out.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from _common.builders import NGRAMS
from _common.cli import require_files
from _common.datasets import Data
from _common.held_out import HELD_OUT, gold_of, hold_out, whole_spans
from _common.left_out import ENGLISH, OF_NOTES, WHOLE, LeftOut, rest_of
from _common.marked_findings import ATTRIBUTES
from _common.marked_findings import SETS as MARKED
from _common.ontology_finder import CHOSEN_ON, TYPES, build_finder, found_spans, gold_spans
from _common.sentences import SETS as SENTENCES
from _common.sentences import ask, marked_spans
from spacy_connorm.evaluation.end_to_end import MEASURES, DocumentSpans, LinkedSpan
from spacy_connorm.finder.coordinations import coordination_joiner
from spacy_connorm.finder.phrases import phrases_of
from spacy_connorm.finder.rules import RULES, Judge, Rule
from spacy_connorm.index.word_bags import WordBags, language_table
from spacy_connorm.lang import LanguageData, load_language
from spacy_connorm.pipeline.finding_places import finding_places_of
from spacy_connorm.pipeline.short_form_files import CLINICAL, read_short_forms
from spacy_connorm.text.abbreviations import abbreviation_finder
from spacy_connorm.text.bag_hashes import hash_bags, hash_word
from spacy_connorm.text.composites import composite_splitter
from spacy_connorm.text.numbered_forms import numbered_forms_of
from spacy_connorm.text.words import Words, words_of
from spacy_connorm.workflows.clinical_meanings import choose_meanings

# The notes of this set as `--clinical` reads them.
_NOTES, _CLINICAL_NOTES = "hpo-notes", "clinical-notes"
_MARKS = {f"marks-{name}": found for name, found in MARKED.items() if found.language == ENGLISH}
SETS = (*CHOSEN_ON, "hpo-omim", _CLINICAL_NOTES, *HELD_OUT, *SENTENCES, *_MARKS)
Found = Callable[[Doc], list[LinkedSpan]]
_DOCUMENT = MEASURES.index("document")
_RIGHT, _FOUND, _GOLD = 0, 1, 3
# Rows of these matter only to words that become others, or others that are in names.
_OF_FORMS = {"derivations", "plurals", "spellings"}
_MARKER = "assertion_marker"
# What each language has once.
_KEPT = (
    abbreviation_finder,
    composite_splitter,
    coordination_joiner,
    finding_places_of,
    language_table,
    numbered_forms_of,
    phrases_of,
)


class MarkedSet:
    """Documents, a pipeline that marks their findings, and what it says with all rows and rules."""

    def __init__(
        self,
        nlp: Language,
        inputs: Sequence[str | Doc],
        gold: Iterable[Sequence[LinkedSpan]],
        found: Found,
    ) -> None:
        """nlp (Language): The pipeline.
        inputs (Sequence[Union[str, Doc]]): What it reads of each document.
        gold (Iterable[Sequence[LinkedSpan]]): The mentions of each.
        found (Callable[[Doc], List[LinkedSpan]]): Reads what was found.
        """
        self.nlp = nlp
        self._inputs = inputs
        self._gold = [*gold]
        self._found = found
        self._tokens = defaultdict[str, set[int]](set)
        for number, text in enumerate(inputs):
            for token in nlp.make_doc(text) if isinstance(text, str) else text:
                self._tokens[token.lower_].add(number)
        self._words = {token: words_of(ENGLISH).normalized(token) for token in self._tokens}
        self._spans = self._read(range(len(self._inputs)))
        self._counts = np.array([self._count(*row) for row in self._spans.items()])
        self.score = _score(self._counts)

    def worths(self, group: Sequence[LeftOut]) -> Iterator[tuple[LeftOut, float, int]]:
        """Leave out a group of rows or rules one by one: first all together, then each half of
        them on the documents that have changed, and so on.

        group (Sequence[LeftOut]): See `groups_of`.
        YIELDS (Tuple[LeftOut, float, int]): Each, what it adds to F1, in points, and the number of
            documents that change without it.
        """
        about = {left_out.part: self._tokens_about(left_out) for left_out in group}
        yield from self._divide(group, about, {*range(len(self._inputs))})

    def _divide(
        self,
        group: Sequence[LeftOut],
        about: Mapping[Hashable, Sequence[str]],
        documents: Collection[int],
    ) -> Iterator[tuple[LeftOut, float, int]]:
        changed = self._changed_without(group, about, documents) if documents else {}
        if changed and len(group) > 1:
            middle = len(group) // 2
            for half in (group[:middle], group[middle:]):
                yield from self._divide(half, about, changed.keys())
            return
        counts = self._counts.copy()
        for number, spans in changed.items():
            counts[number] = self._count(number, spans)
        for left_out in group:
            yield left_out, self.score - _score(counts), len(changed)

    def _tokens_about(self, left_out: LeftOut) -> list[str]:
        return [
            token
            for token, words in self._words.items()
            if left_out.is_about(token) or any(map(left_out.is_about, words))
        ]

    def _changed_without(
        self,
        group: Sequence[LeftOut],
        about: Mapping[Hashable, Sequence[str]],
        documents: Collection[int],
    ) -> dict[int, list[LinkedSpan]]:
        """Read documents without some rows of a table, or without some rules.

        RETURNS (Dict[int, List[LinkedSpan]]): What is found in those that change.
        """
        tokens = {token for left_out in group for token in about[left_out.part]}
        numbers = self._affected(group, tokens)
        spans = self._read(sorted(numbers.intersection(documents)))
        return {number: own for number, own in spans.items() if own != self._spans[number]}

    def _affected(self, group: Sequence[LeftOut], tokens: Collection[str]) -> set[int]:
        """Leave out rows or rules.

        group (Sequence[LeftOut]): The rows or rules.
        tokens (Collection[str]): Those that they are about.
        RETURNS (Set[int]): The documents that may be read in another way now.
        """
        if tokens:
            self._use(*rest_of(group))
        return set[int]().union(*(self._tokens[token] for token in tokens))

    def _read(self, numbers: Sequence[int]) -> dict[int, list[LinkedSpan]]:
        """RETURNS (Dict[int, List[LinkedSpan]]): What is found in some documents."""
        docs = self.nlp.pipe(self._inputs[number] for number in numbers)
        return dict(zip(numbers, map(self._found, docs), strict=True))

    def _count(self, number: int, spans: Sequence[LinkedSpan]) -> list[int]:
        return DocumentSpans(self._gold[number], spans).counts()[_DOCUMENT]

    def _use(self, language: LanguageData, rules: tuple[Rule, ...]) -> None:
        """Read texts and names with another language and other rules. Nothing is kept of what was
        read before.
        """
        vars(load_language(ENGLISH)).update(vars(language))
        for words in self._readers():
            endings = words.endings
            vars(words).clear()
            vars(words).update(vars(Words(load_language(ENGLISH), endings)))
        for kept in _KEPT:
            kept.cache_clear()
        if self.nlp.has_pipe(_MARKER):
            marker: Any = self.nlp.get_pipe(_MARKER)
            marker._compiled = None

    def _readers(self) -> list[Words]:
        return [words_of(ENGLISH)]

    def restore(self) -> None:
        """Read with the whole language and all rules again."""
        self._use(WHOLE, RULES)


class FoundSet(MarkedSet):
    """Documents, and a pipeline that finds the names of an ontology in them."""

    def __init__(self, nlp: Language, gold: Mapping[Doc, Sequence[LinkedSpan]], found: Found):
        """nlp (Language): The pipeline.
        gold (Mapping[Doc, Sequence[LinkedSpan]]): The documents, and the mentions of each.
        found (Callable[[Doc], List[LinkedSpan]]): Reads what was found.
        """
        self.finder: Any = nlp.get_pipe("mention_finder")
        self.lookup: Any = nlp.get_pipe("concept_normalizer").lookup
        self.index = self.lookup.index
        self.bags = self.index.word_bags
        self._resolver: Any = nlp.get_pipe("abbreviation_resolver")
        self._short_forms = dict(self._resolver.cfg)
        super().__init__(nlp, [doc.text for doc in gold], gold.values(), found)
        self._read_words()
        self._read_names()

    def _read_words(self) -> None:
        """Find the documents of each word that is known."""
        self._forms = {token: self._forms_of(token) for token in self._tokens}
        self._documents = defaultdict[int, set[int]](set)
        for token, values in self._forms.items():
            for value in values:
                self._documents[value] |= self._tokens[token]

    def _forms_of(self, token: str) -> frozenset[int]:
        """RETURNS (FrozenSet[int]): The hashes of its words and of what they may stand for."""
        words = self.index.words
        normalized = words.normalized(token)
        return frozenset(
            [
                *map(hash_word, normalized),
                *(value for word in normalized for value in words.forms.of(word).hashes.tolist()),
            ]
        )

    def _read_names(self) -> None:
        rows = self.index.members.row_numbers
        texts = self.index.store.texts(range(len(rows)))
        self._names = [texts[number] for number in range(len(rows))]
        self._lowered = [name.lower() for name in self._names]
        self._rows = rows
        self._name_bags = list(map(self.index.words.bag, self._names))
        self._values = hash_bags(self._name_bags)

    def _affected(self, group: Sequence[LeftOut], tokens: Collection[str]) -> set[int]:
        table = group[0].table
        names = {
            number
            for left_out in group
            if left_out.reads_names
            for number, name in enumerate(self._lowered)
            if left_out.is_about(name)
        }
        if (not tokens and not names) or (table in OF_NOTES and not self.nlp.has_pipe(_MARKER)):
            return set()
        self._use(*rest_of(group))
        changed = filter(self._is_read_anew, tokens) if table in _OF_FORMS else tokens
        return self._with_names(names).union(*(self._tokens[token] for token in changed))

    def _is_read_anew(self, token: str) -> bool:
        """RETURNS (bool): Whether a token has or had another word that is in names."""
        changed = self._forms[token] ^ self._forms_of(token)
        values = np.fromiter(changed, "uint64", len(changed))
        bags = (self.bags.known_words, self.bags.known_bags)
        return any(some.contain(values).any() for some in bags)

    def _with_names(self, names: Iterable[int]) -> set[int]:
        """Read names anew, without the row.

        names (Iterable[int]): Their numbers.
        RETURNS (Set[int]): The documents with words that a name has or had only then.
        """
        bags = {number: self.index.words.bag(self._names[number]) for number in names}
        changed = {number: bag for number, bag in bags.items() if bag != self._name_bags[number]}
        if not changed:
            return set()
        self.index.word_bags = self._with_bags(changed)
        words = {
            word for number, bag in changed.items() for word in {*bag} ^ {*self._name_bags[number]}
        }
        return set().union(*(self._documents.get(hash_word(word), set()) for word in words))

    def _with_bags(self, bags: Mapping[int, tuple[str, ...]]) -> WordBags:
        """RETURNS (WordBags): Those of all names, some of which have other words. Words that no
        name has any more are kept.

        bags (Mapping[int, Tuple[str, ...]]): The words of names, by number.
        """
        values = self._values.copy()
        values[list(bags)] = hash_bags(bags.values())
        named = np.flatnonzero(values)
        values, rows = np.unique(
            np.stack([values[named], self._rows[named].astype("uint64")]), axis=1
        )
        words = {hash_word(word) for bag in bags.values() for word in bag}
        return WordBags(
            values,
            rows.astype("int32"),
            np.union1d(self.bags.words, np.fromiter(words, "uint64", len(words))),
            max(self.bags.longest, *map(len, bags.values())),
        )

    def _use(self, language: LanguageData, rules: tuple[Rule, ...]) -> None:
        super()._use(language, rules)
        self.index.word_bags = self.bags
        self.lookup._retriever = replace(self.lookup.retriever)
        self.finder._finder = None
        self.finder.name_finder()._judge = Judge(rules)
        short_forms = self._short_forms
        if language.short_form_meanings is not WHOLE.short_form_meanings:
            short_forms = choose_meanings(self.finder, read_short_forms(CLINICAL, ENGLISH))
        self._resolver.cfg.update(short_forms)

    def _readers(self) -> list[Words]:
        return [*super()._readers(), self.index.words]


def _score(counts: np.ndarray) -> float:
    """RETURNS (float): F1 of the ids of documents, in percent."""
    right, found, gold = (counts[:, column].sum() for column in (_RIGHT, _FOUND, _GOLD))
    return float(200 * right / max(1, found + gold))


def read_set(name: str, folder: Path) -> MarkedSet:
    """RETURNS (MarkedSet): A dev set, names that are held out of an ontology, plain sentences, or
        marked findings.

    name (str): One of `SETS`.
    folder (Path): The data folder.
    """
    if name in _MARKS:
        return _read_marks(name, folder)
    if name in HELD_OUT:
        ontology, names = hold_out(name, folder)
        found = partial(whole_spans, ontology=ontology)
        return FoundSet(build_finder(ontology, NGRAMS), gold_of(names), found)
    if name in SENTENCES:
        asked = ask(name, folder)
        found = partial(marked_spans, ontology=asked.ontology)
        return FoundSet(asked.finder(), asked.gold(), found)
    is_clinical = name == _CLINICAL_NOTES
    data = Data(_NOTES if is_clinical else name, folder, part="dev")
    data.concept_types = TYPES.get(name, [])
    gold = {doc: gold_spans(doc, data.ontology) for doc in data.scored_docs}
    nlp = build_finder(data.ontology, NGRAMS, clinical=is_clinical)
    return FoundSet(nlp, gold, partial(found_spans, ontology=data.ontology))


def _read_marks(name: str, folder: Path) -> MarkedSet:
    """RETURNS (MarkedSet): Marked findings, each mark of which is an id."""
    path = folder / _MARKS[name].path
    require_files([path])
    nlp = spacy.blank(ENGLISH)
    nlp.add_pipe(_MARKER)
    marked = _MARKS[name].read(path, nlp)
    known = set().union(*(finding.truth for finding in marked))
    attributes = {mark: ATTRIBUTES["ours"][mark] for mark in sorted(known)}
    gold = defaultdict[Doc, list[LinkedSpan]](list)
    for span, truth in marked:
        gold[span.doc].append(_linked(span, [mark for mark in truth if truth[mark]]))

    def found(doc: Doc) -> list[LinkedSpan]:
        return [
            _linked(span, [mark for mark, name in attributes.items() if span._.get(name)])
            for span in doc.ents
        ]

    return MarkedSet(nlp, [*gold], gold.values(), found)


def _linked(span: Span, marks: Iterable[str]) -> LinkedSpan:
    ids = frozenset(f"{span.start} {mark}" for mark in marks)
    return LinkedSpan(span.start_char, span.end_char, span.text, ids)
