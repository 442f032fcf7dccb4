"""Asking a pipeline for the mentions of plain text, beside the gold ones."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from tqdm import tqdm

from ..documents.mentions import Mention, annotated_mentions, split_ids
from ..errors import ConnormError, Errors, Warnings, warn
from ..files.docbin import read_docs
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from .end_to_end import DocumentSpans, LinkedSpan, list_span_mistakes, score_documents
from .gold import find_known
from .protocol import Known
from .report import Row
from .sections import Section

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
