"""The gold standard of a corpus, seen from the index of a pipeline."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..documents.mentions import Mention
from ..errors import Warnings, quote_id, warn
from ..text.cleaning import clean
from .protocol import Gold, KnownConcept, read_gold

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup


def find_known(lookup: "ConceptLookup", mentions: Iterable[Mention]) -> dict[str, KnownConcept]:
    """Find the concepts of gold ids in the index, by id or alternate id.

    lookup (ConceptLookup): Has the index.
    mentions (Iterable[Mention]): The mentions.
    RETURNS (Dict[str, KnownConcept]): The concepts by gold id, without ids that the index lacks.
    """
    store = lookup.index.store
    gold_ids = dict.fromkeys(each for mention in mentions for each in mention.concept_ids)
    numbers = {gold_id: store.number(gold_id) for gold_id in gold_ids}
    found = {gold_id: number for gold_id, number in numbers.items() if number is not None}
    labels = store.labels(found.values())
    return {
        gold_id: KnownConcept(*labels[number], in_ontology=store.in_ontology(number))
        for gold_id, number in found.items()
    }


def read_all_gold(lookup: "ConceptLookup", mentions: Sequence[Mention]) -> list[Gold]:
    """Read the gold standard of mentions. A mention is seen if D has its text; texts that the
    encoder cannot tell apart are the same.

    lookup (ConceptLookup): Has the encoder, and the index with D.
    mentions (Sequence[Mention]): The mentions.
    RETURNS (List[Gold]): One per mention.
    """
    known = find_known(lookup, mentions)
    texts = [clean(mention.text) for mention in mentions]
    seen = lookup.retriever.held(texts, "D")
    return [
        read_gold(mention, known, seen=text in seen)
        for mention, text in zip(mentions, texts, strict=True)
    ]


def warn_of_unknown_ids(mentions: Iterable[Mention], path: Path, *, example: str) -> None:
    """Warn that no gold id is known, so that every answer will count as wrong.

    mentions (Iterable[Mention]): The mentions, at least one with a gold id.
    path (Path): Their corpus.
    example (str): An id that is known.
    WARNS (ConnormWarning): CNW600.
    """
    gold_ids = dict.fromkeys(each for mention in mentions for each in mention.concept_ids)
    first, count = quote_id(next(iter(gold_ids))), len(gold_ids)
    example = quote_id(example)
    warn(Warnings.CNW600.format(path=path, count=count, first=first, example=example))
