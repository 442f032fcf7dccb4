"""Score predicted concept ids against a gold standard, `spacy-connorm.concept_scorer.v1`."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import PRFScore
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..concepts import NIL
from ..documents.mentions import split_ids


def make_concept_scorer() -> Callable[..., dict[str, Any]]:
    """Make the registered scorer.

    RETURNS (Callable): `score_concepts`.
    """
    return score_concepts


def score_concepts(
    examples: Iterable[Example],
    *,
    spans_key: str | None = None,
    labels: Iterable[str] | None = None,
    attribute_prefix: str = "",
    canonical_id: Callable[[str], str] = str,
    **kwargs: Any,
) -> dict[str, Any]:
    """Compare predicted with gold concept ids, strictly: a mention is correct if its offsets and
    its set of ids equal those of a gold mention.

    examples (Iterable[Example]): Predicted and reference documents.
    spans_key (Optional[str]): Score `doc.spans[spans_key]`; `doc.ents` if None.
    labels (Optional[Iterable[str]]): Score only spans with these labels; all if None or empty.
    attribute_prefix (str): Read `span._.{prefix}kb_id`; `span.kb_id_` if empty.
    canonical_id (Callable[[str], str]): Maps alternate ids to their concept's id; by default, ids
        are compared as they are. A concept normalizer passes its own.
    RETURNS (Dict[str, Any]): "concept_p", "concept_r", "concept_f" over all linked mentions, and
        "concept_acc", the share of gold mentions found by the pipeline that have the correct ids;
        None if there is nothing to score. Each name starts with the attribute prefix.
    """
    prf, found, right = PRFScore(), 0, 0
    chosen = set(labels or ())

    def read(doc: Doc, prefix: str) -> dict[tuple[int, int], frozenset[str]]:
        spans = doc.ents if spans_key is None else doc.spans.get(spans_key, ())
        return {
            (span.start_char, span.end_char): frozenset(map(canonical_id, _ids(span, prefix)))
            for span in spans
            if not chosen or span.label_ in chosen
        }

    for example in examples:
        gold = {span: ids for span, ids in read(example.reference, "").items() if ids}
        predicted = read(example.predicted, attribute_prefix)
        prf.score_set({pair for pair in predicted.items() if pair[1]}, set(gold.items()))
        both = gold.keys() & predicted.keys()
        found += len(both)
        right += sum(gold[span] == predicted[span] for span in both)
    scored = bool(prf.tp + prf.fp + prf.fn)
    return {
        f"{attribute_prefix}concept_p": prf.precision if scored else None,
        f"{attribute_prefix}concept_r": prf.recall if scored else None,
        f"{attribute_prefix}concept_f": prf.fscore if scored else None,
        f"{attribute_prefix}concept_acc": right / found if found else None,
    }


def _ids(span: Span, prefix: str) -> frozenset[str]:
    kb_id = span._.get(f"{prefix}kb_id") if prefix else span.kb_id_
    return frozenset(split_ids(kb_id)) - {NIL}
