"""The gold standard of a corpus, seen from the index of a pipeline."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..documents.docbin import read_docs
from ..documents.mentions import Mention
from ..documents.synonyms import annotated_synonyms
from ..errors import Warnings, quote_id, warn
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..text.cleaning import clean
from .mistakes import ConceptFacts
from .protocol import Gold, KnownConcept, read_gold

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup


def read_data(path: Path, normalizer: ConceptNormalizer) -> list[tuple[str, str]]:
    """Read D from an annotated corpus.

    path (Path): A `.spacy` file.
    normalizer (ConceptNormalizer): Its setting `labels` chooses among the mentions.
    RETURNS (List[Tuple[str, str]]): Texts and concept ids, as often as they occur.
    RAISES (ConnormError): The errors of `read_docs`.
    """
    docs = read_docs(path, normalizer.vocab)
    labels, spans_key = normalizer.cfg["labels"], normalizer.cfg["spans_key"]
    return list(annotated_synonyms(docs, labels, spans_key=spans_key))


def find_seen(
    lookup: "ConceptLookup",
    mentions: Sequence[Mention],
    *,
    data: Iterable[tuple[str, str]] | None = None,
) -> list[bool]:
    """Find which mentions have their text in D. Texts that the encoder cannot tell apart are the
    same.

    lookup (ConceptLookup): Has the encoder and the index.
    mentions (Sequence[Mention]): The mentions.
    data (Optional[Iterable[Tuple[str, str]]]): D, from `read_data`; the index's if None.
    RETURNS (List[bool]): One per mention.
    """
    if data is None:
        return lookup.retriever.holds([clean(mention.text) for mention in mentions], "D")
    keys = lookup.normalized_encoder.inputs(clean(mention.text) for mention in mentions)
    seen = set(lookup.normalized_encoder.inputs(clean(text) for text, _ in data))
    return [key in seen for key in keys]


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


def read_all_gold(
    lookup: "ConceptLookup",
    mentions: Sequence[Mention],
    *,
    data: Iterable[tuple[str, str]] | None = None,
) -> list[Gold]:
    """Read the gold standard of mentions.

    lookup (ConceptLookup): Has the encoder and the index.
    mentions (Sequence[Mention]): The mentions.
    data (Optional[Iterable[Tuple[str, str]]]): As for `find_seen`.
    RETURNS (List[Gold]): One per mention.
    """
    known = find_known(lookup, mentions)
    seen = find_seen(lookup, mentions, data=data)
    return [
        read_gold(mention, known, seen=each) for mention, each in zip(mentions, seen, strict=True)
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


def concept_facts(
    normalizer: ConceptNormalizer, *, data: Iterable[tuple[str, str]] | None = None
) -> ConceptFacts:
    """Collect what is known of the concepts of an index, to find the kinds of mistakes.

    normalizer (ConceptNormalizer): Has the index.
    data (Optional[Iterable[Tuple[str, str]]]): As for `find_seen`.
    RETURNS (ConceptFacts): Parents and D.
    """
    store = normalizer.lookup.index.store

    @cache
    def parents(concept_id: str) -> Collection[str]:
        number = store.number(concept_id)
        return () if number is None else store.concept(number).parents

    return ConceptFacts(parents, _in_data(normalizer, data))


def _in_data(
    normalizer: ConceptNormalizer, data: Iterable[tuple[str, str]] | None
) -> Callable[[str], bool]:
    store = normalizer.lookup.index.store
    if data is None:
        numbers = _data_concepts(normalizer)
    else:
        named = {store.number(concept_id) for _, concept_id in data}
        numbers = {number for number in named if number is not None}
    return lambda concept_id: store.number(concept_id) in numbers


def _data_concepts(normalizer: ConceptNormalizer) -> set[int]:
    from ..index.members import D

    index, overlay = normalizer.lookup.index, normalizer.lookup.overlay
    mine = np.flatnonzero(index.members.target & D)
    rows, concepts = index.row_numbers[mine].tolist(), index.members.concept[mine].tolist()
    held = set(zip(rows, concepts, strict=True)) - overlay.removed
    added = (number for denoted in overlay.added for number in denoted)
    return {number for _, number in held} | set(added)
