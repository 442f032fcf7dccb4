"""Score a pipeline from plain text: its mentions, their ids and the ids of documents, compared with
the gold standard.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Span

from ..documents.docbin import read_docs
from ..documents.mentions import Mention, annotated_mentions, split_ids
from ..documents.spans import choose_spans, get_kb_id
from ..errors import Errors, Warnings
from ..files.progress import progress_bar
from ..pipeline.loading import find_normalizer, load_pipeline
from ..pipeline.mention_finder import find_nested_mentions
from .metrics import RESAMPLES, SEED, Interval, KnownConcept, find_known, middle, read_gold
from .report import Row, Section, count_alike, percent

MISSED, INVENTED, BOUNDARY, LINK = "missed", "invented", "wrong boundary", "wrong id"
MISTAKES = (MISSED, INVENTED, BOUNDARY, LINK)
MEASURES = ("mention", "overlap", "linked", "document")
_KEYS = ("precision", "recall", "f1")
_EXAMPLES = 5
_SHOWN = {
    "mention": "mentions, exact spans",
    "overlap": "mentions, overlapping spans",
    "linked": "mentions with ids",
    "document": "ids of a document",
    "document_macro": "ids of a document, mean",
}


class LinkedSpan(NamedTuple):
    """A gold mention, or one that was found.

    start (int): The offset of its first character.
    end (int): The offset after its last.
    text (str): The mention.
    concept_ids (FrozenSet[str]): Its ids; empty if it has none.
    """

    start: int
    end: int
    text: str
    concept_ids: frozenset[str]

    @property
    def place(self) -> tuple[int, int]:
        """The offsets."""
        return self.start, self.end


_NO_SPAN = LinkedSpan(0, 0, "", frozenset())


class DocumentSpans(NamedTuple):
    """The mentions of a document.

    gold (Sequence[LinkedSpan]): The annotated mentions.
    found (Sequence[LinkedSpan]): The mentions that were found.
    """

    gold: Sequence[LinkedSpan]
    found: Sequence[LinkedSpan]

    def counts(self) -> list[list[int]]:
        """Count right mentions and ids.

        RETURNS (List[List[int]]): (4, 4): for each of `MEASURES`, how many of those found are
            right, how many were found, how many gold ones were found, and how many gold ones there
            are.
        """
        places, linked, ids = zip(*map(_distinct, self), strict=True)
        exact, with_ids, of_document = (len(a & b) for a, b in (places, linked, ids))
        gold, predicted = map(len, places)
        overlapping = [
            len([*filter(None, _neighbours(*sides).values())]) for sides in (self[::-1], self)
        ]
        return [
            [exact, predicted, exact, gold],
            [overlapping[0], predicted, overlapping[1], gold],
            [with_ids, len(linked[1]), with_ids, len(linked[0])],
            [of_document, len(ids[1]), of_document, len(ids[0])],
        ]


def _distinct(
    spans: Sequence[LinkedSpan],
) -> tuple[set[tuple[int, int]], set[LinkedSpan], set[str]]:
    linked = {span for span in spans if span.concept_ids}
    ids = {concept_id for span in linked for concept_id in span.concept_ids}
    return {span.place for span in spans}, linked, ids


def score_documents(documents: Sequence[DocumentSpans]) -> Row:
    """Score documents, in percent. Mentions without ids count only as mentions.

    documents (Sequence[DocumentSpans]): At least one.
    RETURNS (Dict[str, Any]): For each of `MEASURES` `_precision`, `_recall`, `_f1` over all
        documents, and the 95 % interval of F1 from resampled documents, `_f1_low` and `_f1_high`:
        "mention" of exact spans; "overlap" of spans that share a character with one; "linked" of
        exact spans with exactly the gold ids; "document" of the set of ids of each document, also
        averaged over documents with any ("document_macro_f1" and so on).
    """
    counts = np.asarray([document.counts() for document in documents], dtype="float64")
    row: Row = {"documents": len(documents), "mentions": int(counts[:, 0, 3].sum())}
    row["found"] = int(counts[:, 0, 1].sum())
    for number, measure in enumerate(MEASURES):
        of_measure = counts[:, number]
        interval = _interval(of_measure)
        for key, share in zip(_KEYS, _shares(of_measure.sum(axis=0)), strict=True):
            row[f"{measure}_{key}"] = percent(float(share))
        row[f"{measure}_f1_low"], row[f"{measure}_f1_high"] = map(percent, interval)
    ids = counts[:, MEASURES.index("document")]
    of_documents = np.asarray(_shares(ids[ids[:, [1, 3]].any(axis=1)].T))
    for key, values in zip(_KEYS, of_documents, strict=True):
        row[f"document_macro_{key}"] = percent(float(values.mean())) if len(values) else None
    return row


def list_span_mistakes(documents: Iterable[DocumentSpans]) -> list[Row]:
    """List mentions that were missed, spurious, or wrongly bounded or linked, the most frequent
    first.

    documents (Iterable[DocumentSpans]): The documents.
    RETURNS (List[Dict[str, Any]]): "kind", "times", "mention", "found", and the ids "gold" and
        "written", joined by `|`.
    """
    rows = (row for document in documents for row in _mistakes(document))
    return count_alike(rows, MISTAKES)


def _mistake(kind: str, gold: LinkedSpan, found: LinkedSpan) -> Row:
    ids, written = ("|".join(sorted(span.concept_ids)) for span in (gold, found))
    texts = {"kind": kind, "mention": gold.text, "found": found.text}
    return {**texts, "gold": ids, "written": written}


def _mistakes(document: DocumentSpans) -> Iterator[Row]:
    at = {span.place: span for span in document.found}
    near = _neighbours(document.gold, document.found)
    for gold in document.gold:
        match = at.get(gold.place)
        if match is None:
            other = next(iter(near[gold.place]), None)
            yield _mistake(BOUNDARY if other else MISSED, gold, other or _NO_SPAN)
        elif gold.concept_ids and match.concept_ids != gold.concept_ids:
            yield _mistake(LINK, gold, match)
    near = _neighbours(document.found, document.gold)
    for span in document.found:
        if not near[span.place]:
            yield _mistake(INVENTED, _NO_SPAN, span)


def _neighbours(
    spans: Sequence[LinkedSpan], others: Sequence[LinkedSpan]
) -> dict[tuple[int, int], list[LinkedSpan]]:
    """Find the others that overlap each span."""
    in_order, near = sorted(others), defaultdict(list)
    starts = np.asarray([other.start for other in in_order], dtype="int64")
    # Spans that overlap another start before it by less than the length of the longest span.
    longest = max((other.end - other.start for other in in_order), default=0)
    for span in spans:
        first = int(np.searchsorted(starts, span.start - longest))
        last = int(np.searchsorted(starts, span.end))
        near[span.place] = [other for other in in_order[first:last] if other.end > span.start]
    return near


def _shares(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute precision, recall and F1 from counts (4, ...); 0 if there is nothing to count."""
    precision, recall = (
        np.divide(right, total, out=np.zeros_like(total), where=total > 0)
        for right, total in ((counts[0], counts[1]), (counts[2], counts[3]))
    )
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return precision, recall, f1


def _interval(counts: np.ndarray) -> Interval:
    """Compute the middle 95 % of F1 over resampled documents, from counts (documents, 4)."""
    size = len(counts)
    draws = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), size=RESAMPLES)
    _, _, f1 = _shares((draws @ counts).T)
    return middle(f1)


class PlainTextScores(NamedTuple):
    """The scores of a pipeline from plain text to ids.

    row (Dict[str, Any]): Scores in percent, see `score_documents`; "without_id": gold mentions
        without an id; "unknown_ids": gold ids, one per mention, that the index lacks;
        "other_types": gold mentions left out because the index has no id of their type.
    mistakes (List[Dict[str, Any]]): See `list_span_mistakes`.
    """

    row: Row
    mistakes: list[Row]

    @property
    def sections(self) -> list[Section]:
        """The tables."""
        rows = [_show(self.row, key, name) for key, name in _SHOWN.items()]
        counted = ("documents", "mentions", "found", "without_id", "unknown_ids", "other_types")
        sections = [
            Section("From plain text, percent", rows),
            Section("Gold mentions", [{key: self.row[key] for key in counted}]),
        ]
        if self.mistakes:
            sections.append(Section("Mistakes", _examples(self.mistakes)))
        return sections


def score_plain_text(
    pipeline: str | Path | Language,
    corpus: Path,
    *,
    component: str | None = None,
    nested_mentions: bool = False,
) -> PlainTextScores:
    """Run a whole pipeline over the texts of a corpus, and compare its mentions with the gold
    mentions.

    pipeline (Union[str, Path, Language]): The pipeline.
    corpus (Path): A `.spacy` file with gold ids.
    component (Optional[str]): The concept normalizer to use, if there are several.
    nested_mentions (bool): Whether to count also the mentions inside longer ones that
        `mention_finder` finds.
    RETURNS (PlainTextScores): The scores.
    RAISES (ConnormError): CN600 for a corpus without gold ids, and the errors of `load_pipeline`,
        `find_normalizer` and `find_nested_mentions`.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mentions at all.
    """
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    annotated = list(read_docs(corpus, nlp.vocab))
    spans_key, prefix = (normalizer.cfg[key] for key in ("spans_key", "attribute_prefix"))
    found_key = find_nested_mentions(nlp, normalizer) if nested_mentions else spans_key
    all_gold = [list(annotated_mentions(doc, spans_key=spans_key)) for doc in annotated]
    mentions = [mention for listed in all_gold for mention in listed]
    if not any(mention.concept_ids for mention in mentions):
        raise Errors.CN600(path=corpus, count=len(mentions), chosen="")
    known = find_known(normalizer.lookup, mentions)
    types = _known_types(mentions, known, normalizer.labels)
    texts = progress_bar((doc.text for doc in annotated), unit="documents", description="Reading")
    documents = [
        DocumentSpans(
            [_gold_span(mention, known) for mention in listed if mention.label in types],
            [
                _found_span(span, prefix)
                for span in choose_spans(doc, spans_key=found_key, labels=normalizer.labels)
            ],
        )
        for doc, listed in zip(nlp.pipe(texts), all_gold, strict=True)
    ]
    if not any(document.found for document in documents):
        Warnings.CNW701.warn(count=len(documents))
    scored = [mention for mention in mentions if mention.label in types]
    row = {
        **score_documents(documents),
        "without_id": sum(not mention.concept_ids for mention in scored),
        "unknown_ids": sum(gold_id not in known for gold in scored for gold_id in gold.concept_ids),
        "other_types": len(mentions) - len(scored),
    }
    return PlainTextScores(row, list_span_mistakes(documents))


def _known_types(
    mentions: Sequence[Mention], known: Mapping[str, KnownConcept], labels: Collection[str]
) -> set[str]:
    """Select the types of gold mentions to score: those that the normalizer reads, if it has
    labels, and of these, those for which the ontology has an id, if there are any.
    """
    types = {mention.label for mention in mentions}
    types = types.intersection(labels) or types
    linked = {mention.label for mention in mentions if known.keys() & {*mention.concept_ids}}
    return types & linked or types


def _gold_span(mention: Mention, known: Mapping[str, KnownConcept]) -> LinkedSpan:
    return LinkedSpan(*mention.extent, mention.text, read_gold(mention, known).concept_ids)


def _found_span(span: Span, prefix: str) -> LinkedSpan:
    ids = frozenset(split_ids(get_kb_id(span, prefix)))
    return LinkedSpan(span.start_char, span.end_char, span.text, ids)


def _show(row: Row, measure: str, name: str) -> Row:
    scores = {key: row[f"{measure}_{key}"] for key in _KEYS}
    low, high = row.get(f"{measure}_f1_low"), row.get(f"{measure}_f1_high")
    interval = None if low is None or high is None else f"{low:.1f}-{high:.1f}"
    return {"of": name, **scores, "f1 95 %": interval}


def _examples(mistakes: Sequence[Row]) -> list[Row]:
    shown: list[Row] = []
    for kind, alike in groupby(mistakes, key=lambda row: row["kind"]):
        rows = list(alike)
        total = sum(row["times"] for row in rows)
        shown += [{"kind": kind, "of": total, **row} for row in rows[:_EXAMPLES]]
    return shown
