"""From plain text: a pipeline's mentions, ids and ids of documents beside the gold ones."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from tqdm import tqdm

from ..documents.mentions import Mention, annotated_mentions, split_ids
from ..errors import ConnormError, Errors, Warnings, warn
from ..files.docbin import read_docs
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from .gold import find_known
from .metrics import LEVEL, RESAMPLES, SEED, Interval
from .protocol import Known
from .report import Row, Section, percent

MISSED, INVENTED, BOUNDARY, LINK = "missed", "invented", "wrong boundary", "wrong id"
MISTAKES = (MISSED, INVENTED, BOUNDARY, LINK)
MEASURES = ("mention", "overlap", "linked", "document")
_KEYS = ("precision", "recall", "f1")


class LinkedSpan(NamedTuple):
    """A mention, gold or found.

    start (int): The offset of its first character.
    end (int): The offset after its last.
    text (str): The mention.
    concept_ids (FrozenSet[str]): Its ids; empty if it has none.
    """

    start: int
    end: int
    text: str
    concept_ids: frozenset[str]


class DocumentSpans(NamedTuple):
    """The mentions of a document.

    gold (Sequence[LinkedSpan]): As annotated.
    found (Sequence[LinkedSpan]): As found.
    """

    gold: Sequence[LinkedSpan]
    found: Sequence[LinkedSpan]

    def counts(self) -> list[list[int]]:
        """RETURNS (List[List[int]]): (4, 4): for each of `MEASURES` how many of what was found are
        right, how many were found, how many gold ones were found, how many gold ones there are.
        """
        gold, found = (set(map(_place, each)) for each in self)
        exact = len(gold & found)
        linked_gold, linked = (_linked(each) for each in self)
        right = len(linked_gold & linked)
        gold_ids, ids = (_all_ids(each) for each in self)
        of_document = len(gold_ids & ids)
        return [
            [exact, len(found), exact, len(gold)],
            [_overlapping(found, gold), len(found), _overlapping(gold, found), len(gold)],
            [right, len(linked), right, len(linked_gold)],
            [of_document, len(ids), of_document, len(gold_ids)],
        ]


def score_documents(documents: Sequence[DocumentSpans]) -> Row:
    """Score plain text, in percent. Mentions without ids count as mentions, and for nothing else.

    documents (Sequence[DocumentSpans]): At least one.
    RETURNS (Dict[str, Any]): For each of `MEASURES` `_precision`, `_recall`, `_f1` over all
        documents, and the 95 % interval of F1 from resampled documents, `_f1_low` and `_f1_high`:
        "mention" of exact spans; "overlap" of spans that share a character with one; "linked" of
        exact spans with exactly the gold ids; "document" of the set of ids of each document, also
        averaged over documents with any ("document_macro_f1" and so on).
    """
    counts = np.asarray([each.counts() for each in documents], dtype="float64")
    row: Row = {"documents": len(documents), "mentions": int(counts[:, 0, 3].sum())}
    row["found"] = int(counts[:, 0, 1].sum())
    for number, measure in enumerate(MEASURES):
        of_measure = counts[:, number]
        interval = _interval(of_measure)
        for key, share in zip(_KEYS, _shares(of_measure.sum(axis=0)), strict=True):
            row[f"{measure}_{key}"] = percent(float(share))
        row[f"{measure}_f1_low"], row[f"{measure}_f1_high"] = map(percent, interval)
    ids = counts[:, MEASURES.index("document")]
    each = np.asarray(_shares(ids[ids[:, [1, 3]].any(axis=1)].T))
    for key, values in zip(_KEYS, each, strict=True):
        row[f"document_macro_{key}"] = percent(float(values.mean())) if len(values) else None
    return row


def list_span_mistakes(documents: Iterable[DocumentSpans]) -> list[Row]:
    """List what was missed, invented, wrongly bounded or linked, the most frequent first.

    documents (Iterable[DocumentSpans]): The documents.
    RETURNS (List[Dict[str, Any]]): "kind", "times", "mention", "found", "gold" and "written": the
        ids, joined by `|`.
    """
    counts = Counter(mistake for document in documents for mistake in _mistakes(document))
    keys = ("kind", "mention", "found", "gold", "written")
    rows = []
    for mistake, times in counts.most_common():
        kind, *others = mistake
        rows.append({"kind": kind, "times": times, **dict(zip(keys[1:], others, strict=True))})
    return sorted(rows, key=lambda row: MISTAKES.index(row["kind"]))


def _mistakes(document: DocumentSpans) -> Iterator[tuple[str, str, str, str, str]]:
    at = {_place(each): each for each in document.found}
    near = _neighbours(document.gold, document.found)
    for gold in document.gold:
        found = at.get(_place(gold))
        if found is None and near[_place(gold)]:
            yield _mistake(BOUNDARY, gold, near[_place(gold)][0])
        elif found is None:
            yield _mistake(MISSED, gold, None)
        elif gold.concept_ids and found.concept_ids != gold.concept_ids:
            yield _mistake(LINK, gold, found)
    near = _neighbours(document.found, document.gold)
    for found in document.found:
        if not near[_place(found)]:
            yield _mistake(INVENTED, None, found)


def _mistake(
    kind: str, gold: LinkedSpan | None, found: LinkedSpan | None
) -> tuple[str, str, str, str, str]:
    texts = [each.text if each else "" for each in (gold, found)]
    ids = ["|".join(sorted(each.concept_ids)) if each else "" for each in (gold, found)]
    return kind, texts[0], texts[1], ids[0], ids[1]


def _neighbours(
    spans: Sequence[LinkedSpan], others: Sequence[LinkedSpan]
) -> dict[tuple[int, int], list[LinkedSpan]]:
    """RETURNS (Dict[Tuple[int, int], List[LinkedSpan]]): The others that overlap each span."""
    in_order, found = sorted(others), defaultdict(list)
    starts = np.asarray([each.start for each in in_order], dtype="int64")
    # No span is longer than the longest, so the others that overlap one start not far before it.
    longest = max((each.end - each.start for each in in_order), default=0)
    for span in spans:
        first = int(np.searchsorted(starts, span.start - longest))
        last = int(np.searchsorted(starts, span.end))
        found[_place(span)] = [each for each in in_order[first:last] if each.end > span.start]
    return found


def _overlapping(places: set[tuple[int, int]], others: set[tuple[int, int]]) -> int:
    spans, rest = (
        [LinkedSpan(start, end, "", frozenset()) for start, end in each]
        for each in (places, others)
    )
    return sum(map(bool, _neighbours(spans, rest).values()))


def _place(span: LinkedSpan) -> tuple[int, int]:
    return span.start, span.end


def _linked(spans: Iterable[LinkedSpan]) -> set[tuple]:
    return {(*_place(span), span.concept_ids) for span in spans if span.concept_ids}


def _all_ids(spans: Iterable[LinkedSpan]) -> set[str]:
    return {concept_id for span in spans for concept_id in span.concept_ids}


def _shares(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """RETURNS (Tuple[np.ndarray, np.ndarray, np.ndarray]): Precision, recall and F1, 0 where there
    is nothing to count, of counts (4, ...).
    """
    precision, recall = (
        np.divide(right, total, out=np.zeros_like(total), where=total > 0)
        for right, total in ((counts[0], counts[1]), (counts[2], counts[3]))
    )
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return precision, recall, f1


def _interval(counts: np.ndarray) -> Interval:
    """RETURNS (Interval): The middle 95 % of F1 over resampled documents; counts (documents, 4)."""
    size = len(counts)
    draws = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), size=RESAMPLES)
    _, _, f1 = _shares((draws @ counts).T)
    low, high = np.quantile(f1, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


_EXAMPLES = 5
_SHOWN = {
    "mention": "mentions, exact spans",
    "overlap": "mentions, overlapping spans",
    "linked": "mentions with ids",
    "document": "ids of a document",
    "document_macro": "ids of a document, mean",
}


class PlainTextScores(NamedTuple):
    """How a pipeline does from plain text to ids.

    row (Dict[str, Any]): Scores in percent, see `score_documents`; "without_id": gold mentions
        without an id; "unknown_ids": gold ids, one per mention, that the index lacks;
        "other_types": gold mentions of types of which the index has no id, which are left out.
    mistakes (List[Dict[str, Any]]): See `list_span_mistakes`.
    """

    row: Row
    mistakes: list[Row]

    @property
    def sections(self) -> list[Section]:
        """RETURNS (List[Section]): The tables."""
        rows = [_scores(self.row, key, name) for key, name in _SHOWN.items()]
        counted = ("documents", "mentions", "found", "without_id", "unknown_ids", "other_types")
        sections = [
            Section("From plain text, percent", rows),
            Section("Gold mentions", [{key: self.row[key] for key in counted}]),
        ]
        if self.mistakes:
            sections.append(Section("Mistakes", _examples(self.mistakes)))
        return sections


def score_plain_text(
    pipeline: str | Path | Language, corpus: Path, *, component: str | None = None
) -> PlainTextScores:
    """Run a whole pipeline over the texts of a corpus, and compare what it finds with the gold
    mentions.

    pipeline (Union[str, Path, Language]): The pipeline.
    corpus (Path): A `.spacy` file with gold ids.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (PlainTextScores): The scores.
    RAISES (ConnormError): CN600 for a corpus without gold ids, and the errors of `load_pipeline`
        and `find_normalizer`.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mention at all.
    """
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    annotated = list(read_docs(corpus, nlp.vocab))
    all_gold = [_read_gold(doc, normalizer) for doc in annotated]
    mentions = [mention for listed in all_gold for mention in listed]
    if not any(mention.concept_ids for mention in mentions):
        raise ConnormError(Errors.CN600.format(path=corpus, count=len(mentions), chosen=""))
    known = find_known(normalizer.lookup, mentions)
    kept = _known_types(mentions, known, normalizer.labels)
    texts = tqdm((doc.text for doc in annotated), desc="Reading", unit="doc", delay=2, disable=None)
    documents = [
        DocumentSpans(
            [_gold_span(each, known) for each in listed if each.label in kept],
            _found(doc, normalizer),
        )
        for doc, listed in zip(nlp.pipe(texts), all_gold, strict=True)
    ]
    if not any(document.found for document in documents):
        warn(Warnings.CNW701.format(count=len(documents), component=normalizer.name))
    scored = [mention for mention in mentions if mention.label in kept]
    row = {
        **score_documents(documents),
        "without_id": sum(not mention.concept_ids for mention in scored),
        "unknown_ids": sum(each not in known for each in _ids(scored)),
        "other_types": len(mentions) - len(scored),
    }
    return PlainTextScores(row, list_span_mistakes(documents))


def _read_gold(doc: Doc, normalizer: ConceptNormalizer) -> list[Mention]:
    return list(annotated_mentions(doc, spans_key=normalizer.cfg["spans_key"]))


def _ids(mentions: Iterable[Mention]) -> list[str]:
    return [concept_id for mention in mentions for concept_id in mention.concept_ids]


def _known_types(
    mentions: Sequence[Mention], known: Mapping[str, Known], labels: Collection[str]
) -> set[str]:
    """RETURNS (Set[str]): The types of gold mentions to score: those that the normalizer reads, if
    its labels name any, and of them those of which the ontology has an id, if it has any at all.
    """
    kept = {mention.label for mention in mentions}
    kept = kept.intersection(labels) or kept
    linked = {
        mention.label for mention in mentions if any(each in known for each in mention.concept_ids)
    }
    return kept & linked or kept


def _gold_span(mention: Mention, known: Mapping[str, Known]) -> LinkedSpan:
    ids = (known[each].concept_id if each in known else each for each in mention.concept_ids)
    return LinkedSpan(*mention.extent, mention.text, frozenset(ids))


def _found(doc: Doc, normalizer: ConceptNormalizer) -> list[LinkedSpan]:
    prefix = normalizer.cfg["attribute_prefix"]
    return [_found_span(span, prefix) for span in normalizer.spans(doc)]


def _found_span(span: Span, prefix: str) -> LinkedSpan:
    ids = frozenset(split_ids(getattr(span._, f"{prefix}kb_id")))
    return LinkedSpan(span.start_char, span.end_char, span.text, ids)


def _scores(row: Row, measure: str, name: str) -> Row:
    shown: Row = {"of": name}
    for key in ("precision", "recall", "f1"):
        shown[key] = row[f"{measure}_{key}"]
    low, high = row.get(f"{measure}_f1_low"), row.get(f"{measure}_f1_high")
    shown["f1 95 %"] = None if low is None or high is None else f"{low:.1f}-{high:.1f}"
    return shown


def _examples(mistakes: Sequence[Row]) -> list[Row]:
    shown, total = [], Counter[str]()
    for row in mistakes:
        total[row["kind"]] += row["times"]
    seen = Counter[str]()
    for row in mistakes:
        seen[row["kind"]] += 1
        if seen[row["kind"]] <= _EXAMPLES:
            shown.append({"kind": row["kind"], "of": total[row["kind"]], **_without(row)})
    return shown


def _without(row: Row) -> Row:
    return {key: value for key, value in row.items() if key != "kind"}
