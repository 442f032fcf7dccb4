"""What a reranker learns from an annotated document."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Span
from spacy.training import Example

from ..concepts import Candidate
from ..documents.mentions import Mention, annotated_mentions
from ..reranking.ranking import is_ranked
from .concept_normalizer import ConceptNormalizer
from .initialization import read_annotated
from .settings import known_id

if TYPE_CHECKING:
    from ..reranking.annotated_counts import AnnotatedCounts
    from ..reranking.model import MentionBatch


class RankedMentions(NamedTuple):
    """The mentions of a document, and which of their candidates are right.

    batch (MentionBatch): What the model reads.
    right (Bools1d): bool (c,): whether each of its candidates is right.
    """

    batch: "MentionBatch"
    right: np.ndarray


def read_ranked(
    example: Example,
    normalizer: ConceptNormalizer,
    counts: "AnnotatedCounts",
    *,
    held_out: bool,
) -> RankedMentions:
    """Search for the mentions of an annotated document.

    example (Example): Its reference has mentions with gold ids.
    normalizer (ConceptNormalizer): Searches.
    counts (AnnotatedCounts): What D counts.
    held_out (bool): Whether D has this document, which is left out then.
    RETURNS (RankedMentions): The mentions with several candidates.
    RAISES (ConnormError): Those of `ConceptSearch.candidates`.
    """
    from ..linker.held_out import known_synonyms
    from ..reranking.mention_batches import describe_mentions

    doc = example.predicted
    mentions = list(_linked_mentions(example, normalizer))
    spans = [span for span, _ in mentions]
    own = list(read_annotated([example], normalizer.cfg)) if held_out else []
    found = normalizer.candidates(
        [span.text for span in spans],
        long_forms=normalizer.long_forms(doc, spans),
        documents=[0] * len(spans),
        held_out=own,
    )
    lookup = normalizer.lookup
    others = counts.without(known_synonyms(own, lookup))
    batch = describe_mentions(spans, found, lookup.retriever, others)
    right = [
        judged
        for candidates, (_, mention) in zip(found, mentions, strict=True)
        if is_ranked(candidates)
        for judged in _judge(candidates, mention, normalizer)
    ]
    return RankedMentions(batch, np.asarray(right, dtype=bool))


def _linked_mentions(
    example: Example, normalizer: ConceptNormalizer
) -> Iterator[tuple[Span, Mention]]:
    cfg = normalizer.cfg
    for mention in annotated_mentions(example.reference, spans_key=cfg["spans_key"]):
        wanted = not cfg["labels"] or mention.label in cfg["labels"]
        span = example.predicted.char_span(*mention.extent, alignment_mode="expand")
        if wanted and mention.concept_ids and span is not None:
            yield span, mention


def _judge(
    candidates: list[Candidate], mention: Mention, normalizer: ConceptNormalizer
) -> list[bool]:
    number = normalizer.lookup.index.store.number
    gold = {number(known_id(each, normalizer.cfg)) for each in mention.concept_ids}
    return [number(each.concept_id) in gold for each in candidates]
