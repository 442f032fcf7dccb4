"""Would a probability of each mention make a dial of recall and precision? A logistic regression is
fitted to the marks of all data sets but those with the same ontology, and scored on these: found
mentions are dropped under a probability, and windows of up to five words that no name explains, but
whose nearest name is close, are added from a probability on.

Example: python benchmarks/recall_dial.py --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import Data
from _common.ontology_finder import TYPES, build_finder, found_spans, gold_spans
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_connorm.concepts import Candidate
from spacy_connorm.documents.mentions import split_ids
from spacy_connorm.evaluation.end_to_end import DocumentSpans, LinkedSpan
from spacy_connorm.evaluation.report import Row, percent
from spacy_connorm.linker.calibration import features_of
from spacy_connorm.text.words import Words

# Those with the same ontology, of any release, are left out together.
ONTOLOGIES = (
    ("hpo-abstracts", "hpo-notes", "hpo-omim"),
    ("ncbi", "bc5cdr-d"),
    ("bc5cdr-c",),
    ("craft-uberon",),
    ("craft-cl",),
    ("craft-so",),
)
DATASETS = tuple(name for same in ONTOLOGIES for name in same)
NOW, ADDED, DROPPED = "as now", "added", "dropped"
KINDS = (ADDED, DROPPED)
CUTS = (0.2, 0.3, 0.5, 0.7)
# What the best cut may cost: recall if mentions are dropped, and wrong marks among those
# that are added.
MOST_LOST, MOST_WRONG = 0.01, 0.5
_MOST_WORDS = 5
_INSIDE_WORDS = frozenset("-'/")
_INVERSE_PENALTY = 0.1


class Mark(NamedTuple):
    """A found mention, or a window that might be one.

    document (int): The number of its document.
    span (LinkedSpan): Its place and ids.
    features (Tuple[float, ...]): What is known of it.
    is_right (bool): Whether a gold mention with its id overlaps it, by half if it is a window.
    """

    document: int
    span: LinkedSpan
    features: tuple[float, ...]
    is_right: bool


@dataclass
class Marks:
    """The marks of a data set.

    documents (List[DocumentSpans]): Gold and found mentions.
    of (Dict[str, List[Mark]]): The found mentions, as `DROPPED`, and the windows, as `ADDED`.
    """

    documents: list[DocumentSpans]
    of: dict[str, list[Mark]] = field(default_factory=lambda: {kind: [] for kind in KINDS})


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = list(measure(arguments))
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--dataset", nargs="+", choices=DATASETS, default=DATASETS, help="[all]")
    add("--encoder", default="minilm-int8", help="of the normalizer [%(default)s]")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a data set and cut, from dev parts."""
    if not any(others_of(name, arguments.dataset) for name in arguments.dataset):
        fail("Name data sets of two ontologies: one is left out.")
    marks = {name: read_marks(arguments, name) for name in arguments.dataset}
    for name, own in marks.items():
        common = {"dataset": name, "encoder": arguments.encoder}
        for kind in KINDS:
            others = [marks[other].of[kind] for other in others_of(name, [*marks])]
            likely = probabilities(own.of[kind], others)
            curve = Curve.of(own.documents, choose(own.of[kind], likely), kind)
            if kind == ADDED:
                yield {**common, "marks": NOW, **curve.row("-", 0)}
            for row in curve.rows():
                yield {**common, "marks": kind, **row}


def others_of(name: str, names: Sequence[str]) -> list[str]:
    """RETURNS (List[str]): The data sets with another ontology."""
    (same,) = (same for same in ONTOLOGIES if name in same)
    return [other for other in names if other not in same]


def read_marks(arguments: Namespace, name: str) -> Marks:
    """RETURNS (Marks): The marks of a data set's dev part."""
    data = Data(name, arguments.data, part="dev")
    data.concept_types = TYPES.get(name, [])
    encoder = encoder_config(arguments.encoder, data, train="O", work=arguments.work)
    nlp = build_finder(data.ontology, encoder, language=data.dataset.language)
    docs = list(nlp.pipe(doc.text for doc in data.scored_docs))
    marks = Marks(
        [
            DocumentSpans(gold_spans(gold, data.ontology), found_spans(doc, data.ontology))
            for gold, doc in zip(data.scored_docs, docs, strict=True)
        ]
    )
    windows = WindowReader(nlp, data)
    for number, (doc, spans) in enumerate(zip(docs, marks.documents, strict=True)):
        found = nlp.get_pipe("mention_finder").predict([doc])[0]
        scores = {(mention.start, mention.end): mention.score for mention in found}
        for ent, span in zip(doc.ents, spans.found, strict=True):
            features = found_features(ent, scores.get((ent.start, ent.end), 0.0))
            marks.of[DROPPED].append(Mark(number, span, features, is_right(span, spans.gold, 0)))
        for span, features in windows.read(doc):
            marks.of[ADDED].append(Mark(number, span, features, is_right(span, spans.gold, 0.5)))
    return marks


def found_features(ent: Span, score: float) -> tuple[float, ...]:
    """RETURNS (Tuple[float, ...]): What is known of a found mention: how it was matched, and what
    the normalizer makes of it.
    """
    first = features_of(ent._.candidates)[0] if ent._.candidates else [0.0] * 6
    name = ent._.matched_name
    return score, float("|" in name), float(not name), float(len(ent)), *first


def is_right(span: LinkedSpan, gold: Sequence[LinkedSpan], least: float) -> bool:
    """RETURNS (bool): Whether a gold mention with an id of a span shares more than this part of
    the characters of both.
    """
    return any(
        min(span.end, other.end) - max(span.start, other.start)
        > least * (max(span.end, other.end) - min(span.start, other.start))
        and not span.concept_ids.isdisjoint(other.concept_ids)
        for other in gold
    )


class WindowReader:
    """Reads windows that the finder did not take: they begin and end with words of names, and may
    have a found mention inside that is another concept.
    """

    def __init__(self, nlp: Language, data: Data) -> None:
        """nlp (Language): The pipeline. data (Data): Has the names."""
        self._ontology = data.ontology
        self._normalizer = nlp.get_pipe("concept_normalizer")
        self._words: Words = self._normalizer.lookup.index.words
        classes, finder = self._words.classes, self._words.language.finder
        self._small = classes.stop_words | classes.copulas
        self._allowed = finder.genitives | finder.places | classes.determiners
        names = (name for concept in data.ontology for name in concept.names)
        self._known = {word for name in names for word in self._words.content(name)}

    def read(self, doc: Doc) -> Iterator[tuple[LinkedSpan, tuple[float, ...]]]:
        """YIELDS (Tuple[LinkedSpan, Tuple[float, ...]]): A window with the id of the nearest name,
        and its features.
        """
        windows = list(self._windows(doc))
        answers = self._normalizer.candidates([window.text for window in windows])
        for window, candidates in zip(windows, answers, strict=True):
            if not candidates:
                continue
            own, named = (
                set(self._words.content(text)) for text in (window.text, candidates[0].text)
            )
            ids = frozenset({self._ontology.primary_id(candidates[0].concept_id)})
            inside = [ent for ent in doc.ents if ent.start < window.end and window.start < ent.end]
            known = {self._ontology.primary_id(i) for ent in inside for i in split_ids(ent.kb_id_)}
            # A name with the same words was refused by a rule of the finder.
            if own != named and ids.isdisjoint(known):
                place = LinkedSpan(window.start_char, window.end_char, window.text, ids)
                yield place, self._features(window, candidates, own, named, len(inside))

    def _windows(self, doc: Doc) -> Iterator[Span]:
        taken = [(ent.start, ent.end) for ent in doc.ents]
        are_edges = [self._is_edge(token.lower_) for token in doc]
        for start in range(len(doc)):
            if not are_edges[start]:
                continue
            words = 0
            for end in range(start + 1, len(doc) + 1):
                token = doc[end - 1]
                words += token.text.isalnum()
                if words > _MOST_WORDS or not self._goes_on(token.lower_):
                    break
                cuts = any(a < end and start < b and (a < start or end < b) for a, b in taken)
                if are_edges[end - 1] and not cuts and (start, end) not in taken:
                    yield doc[start:end]

    def _is_edge(self, word: str) -> bool:
        content = self._words.content(word)
        return bool(content) and word not in self._small and self._known.issuperset(content)

    def _goes_on(self, word: str) -> bool:
        if not any(map(str.isalnum, word)):
            return word in _INSIDE_WORDS
        return word not in self._small or word in self._allowed

    def _features(
        self,
        window: Span,
        candidates: Sequence[Candidate],
        own: set[str],
        named: set[str],
        inside: int,
    ) -> tuple[float, ...]:
        doc, both = window.doc, own & named
        around = (doc[at].lower_ for at in (window.start - 1, window.end) if 0 <= at < len(doc))
        return (
            *features_of(candidates)[0],
            len(both) / max(len(own), 1),
            len(both) / max(len(named), 1),
            float(not own.isdisjoint(self._words.content(candidates[0].text)[-1:])),
            float(not named.isdisjoint(self._words.content(window.text)[-1:])),
            float(len(own)),
            float(len(named)),
            float(sum(map(self._goes_on, around))),
            float(inside),
        )


def probabilities(own: Sequence[Mark], others: Sequence[Sequence[Mark]]) -> np.ndarray:
    """RETURNS (Floats1d): float64: how likely each mark is right, by those of other data sets, each
    of which counts as much.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    marks = [mark for some in others for mark in some]
    if not own or len({mark.is_right for mark in marks}) < 2:
        return np.ones(len(own))
    weights = np.concatenate(
        [np.full(len(some), len(marks) / len(some)) for some in others if some]
    )
    model = make_pipeline(StandardScaler(), LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000))
    model.fit(
        [mark.features for mark in marks],
        [mark.is_right for mark in marks],
        logisticregression__sample_weight=weights / weights.mean(),
    )
    return model.predict_proba([mark.features for mark in own])[:, 1]


def choose(marks: Sequence[Mark], likely: np.ndarray) -> list[tuple[float, Mark]]:
    """RETURNS (List[Tuple[float, Mark]]): The most likely of overlapping marks, with their
    probabilities, the most likely first.
    """
    chosen, taken = [], set[tuple[int, int]]()
    for number in np.argsort(-likely, kind="stable").tolist():
        mark = marks[number]
        letters = {(mark.document, at) for at in range(mark.span.start, mark.span.end)}
        if taken.isdisjoint(letters):
            taken |= letters
            chosen.append((float(likely[number]), mark))
    return chosen


@dataclass
class Curve:
    """What is there with the n most likely marks, for n from 0 on.

    kind (str): `DROPPED` or `ADDED`.
    likely (Floats1d): float64 (marks,): their probabilities, descending.
    are_right (np.ndarray): bool (marks,): which of them are right.
    ids (Ints1d): int64 (marks + 1,): how many ids the documents have.
    right_ids (Ints1d): int64 (marks + 1,): how many of these ids are right.
    gold_ids (int): How many there are.
    """

    kind: str
    likely: np.ndarray
    are_right: np.ndarray
    ids: np.ndarray
    right_ids: np.ndarray
    gold_ids: int

    @classmethod
    def of(
        cls, documents: Sequence[DocumentSpans], chosen: Sequence[tuple[float, Mark]], kind: str
    ) -> "Curve":
        """RETURNS (Curve): The curve of marks, the most likely first."""
        gold = [ids_of(spans.gold) for spans in documents]
        ids = [ids_of(spans.found) if kind == ADDED else set() for spans in documents]
        counts = [(sum(map(len, ids)), sum(map(len, map(set.__and__, ids, gold))))]
        for _, mark in chosen:
            new = mark.span.concept_ids - ids[mark.document]
            ids[mark.document] |= new
            number, right = counts[-1]
            counts.append((number + len(new), right + len(new & gold[mark.document])))
        likely = np.array([probability for probability, _ in chosen])
        are_right = np.array([mark.is_right for _, mark in chosen], dtype="bool")
        return cls(kind, likely, are_right, *np.array(counts).T, sum(map(len, gold)))

    def rows(self) -> Iterator[Row]:
        """YIELDS (Dict[str, Any]): What is there at the best cut, and at each."""
        yield self.row("best", self._best())
        for cut in CUTS:
            yield self.row(f"{cut:g}", int((self.likely >= cut).sum()))

    def _best(self) -> int:
        if self.kind == ADDED:
            right = np.concatenate([[0], self.are_right.cumsum()])
            enough = right >= MOST_WRONG * np.arange(len(right))
            return int(np.argmax(np.where(enough, self.right_ids, -1)))
        enough = self.right_ids >= self.right_ids[-1] - MOST_LOST * self.gold_ids
        return int(np.argmax(np.where(enough, self.right_ids / np.maximum(self.ids, 1), -1)))

    def row(self, cut: str, size: int) -> Row:
        """RETURNS (Dict[str, Any]): With this many marks: how many are dropped or added, how many
        of these are right, and the documents' ids.
        """
        marks = self.are_right[:size] if self.kind == ADDED else self.are_right[size:]
        right = self.right_ids[size]
        return {
            "cut": cut,
            "changed": len(marks),
            "right": percent(marks.mean()) if len(marks) else None,
            "document_precision": percent(right / max(self.ids[size], 1)),
            "document_recall": percent(right / max(self.gold_ids, 1)),
        }


def ids_of(spans: Sequence[LinkedSpan]) -> set[str]:
    """RETURNS (Set[str]): The ids of spans."""
    return {concept_id for span in spans for concept_id in span.concept_ids}


if __name__ == "__main__":
    main()
