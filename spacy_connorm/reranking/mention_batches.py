"""The mentions of a document as a reranker sees them."""

from collections.abc import Mapping, Sequence

import numpy as np
from spacy.tokens import Span

from ..concepts import Candidate
from ..linker.document_context import is_certain
from ..linker.retriever import Retriever
from .annotated_counts import AnnotatedCounts
from .features import COLUMNS, candidate_features
from .model import MentionBatch
from .ranking import is_ranked

# How many tokens on each side are read at most, within the sentence if sentences are known.
_WINDOW = 25


def describe_mentions(
    spans: Sequence[Span],
    found: Sequence[Sequence[Candidate]],
    retriever: Retriever,
    counts: AnnotatedCounts,
) -> MentionBatch:
    """Describe the mentions of a document that have anything to choose from.

    spans (Sequence[Span]): All of its m mentions.
    found (Sequence[Sequence[Candidate]]): The candidates of each, best first.
    retriever (Retriever): Found them.
    counts (AnnotatedCounts): What D counts.
    RETURNS (MentionBatch): What the model reads, without the vectors of names. Its mentions are
        numbered among those that have anything to choose from.
    """
    ranked = [place for place, candidates in enumerate(found) if is_ranked(candidates)]
    # As searched: of a short form, what it stands for.
    searched = [found[place][0].searched for place in ranked]
    keys = retriever.encoder.inputs(searched) if searched else []
    certain = _certain_texts(spans, found)
    described = [np.empty((0, len(COLUMNS)), dtype="float32")]
    for place, key in zip(ranked, keys, strict=True):
        own = spans[place].text.lower()
        elsewhere = {
            each.concept_id
            for each in found[place]
            if any(text != own for text in certain.get(each.concept_id, ()))
        }
        described.append(candidate_features(found[place], counts, key=key, elsewhere=elsewhere))
    sizes = [len(features) for features in described[1:]]
    return MentionBatch(
        contexts=[_context(spans[place]) for place in ranked],
        mention=np.repeat(np.arange(len(ranked)), sizes),
        features=np.concatenate(described),
        # Candidates of one text, such as "cold", differ by their preferred names only.
        names=[each.name for place in ranked for each in found[place]],
    )


def _certain_texts(
    spans: Sequence[Span], found: Sequence[Sequence[Candidate]]
) -> Mapping[str, list[str]]:
    """RETURNS (Mapping[str, List[str]]): By concept up to two different texts of mentions that
    certainly link to it: one of them is not a mention's own.
    """
    texts: dict[str, list[str]] = {}
    for span, candidates in zip(spans, found, strict=True):
        if is_certain(candidates):
            known = texts.setdefault(candidates[0].concept_id, [])
            text = span.text.lower()
            if len(known) < 2 and text not in known:
                known.append(text)
    return texts


def _context(span: Span) -> np.ndarray:
    """RETURNS (Ints1d): int64 (t,): the tokens around a mention; the mention itself if there are no
    others.
    """
    doc = span.doc
    start, end = max(span.start - _WINDOW, 0), min(span.end + _WINDOW, len(doc))
    if doc.has_annotation("SENT_START"):
        sentence = span.sent
        start, end = max(start, sentence.start), min(end, sentence.end)
    around = [*range(start, span.start), *range(span.end, end)]
    return np.asarray(around or range(span.start, span.end), dtype="int64")
