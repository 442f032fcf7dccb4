"""Synonyms of users: into the overlay beside an index, and out of it."""

from collections.abc import Iterable

import numpy as np

from ..encoders.normalized import NormalizedEncoder
from ..errors import ConnormError, Errors, Warnings, require_positive, warn
from ..index.concept_index import ConceptIndex
from ..index.overlay import SynonymOverlay
from ..index.vectors.base import from_raw
from ..text.cleaning import clean


def add_synonyms(
    synonyms: Iterable[tuple[str, str]],
    index: ConceptIndex,
    overlay: SynonymOverlay,
    encoder: NormalizedEncoder,
    *,
    count: int = 1,
) -> None:
    """Let texts denote concepts from now on, as part of D; nothing is retrained.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
    index (ConceptIndex): Knows the concepts.
    overlay (SynonymOverlay): Takes the synonyms.
    encoder (NormalizedEncoder): The one that the index was built with.
    count (int): How often D says so; of two concepts with one text the more frequent leads.
    RAISES (ConnormError): CN002 for a concept that the index lacks, CN003 for an empty text,
        CN009 for one that the encoder knows nothing of; nothing is added then. CN006 for a
        `count` under 1.
    """
    require_positive("count", count)
    pairs = _pairs(synonyms, index)
    if pairs:
        texts = [text for text, _ in pairs]
        raw = encoder.encode(texts)
        for row in np.flatnonzero(from_raw(raw).norms == 0):
            raise ConnormError(Errors.CN009.format(text=texts[row]))
        keys = encoder.inputs(texts)
        for place, (key, (text, number)) in enumerate(zip(keys, pairs, strict=True)):
            overlay.add(key, text, raw[place : place + 1], number, count)


def remove_synonyms(
    synonyms: Iterable[tuple[str, str]],
    index: ConceptIndex,
    overlay: SynonymOverlay,
    encoder: NormalizedEncoder,
) -> None:
    """Let texts no longer denote concepts, whether the ontology, the annotated data or
    `add_synonyms` said that they do.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids; the others as in `add_synonyms`.
    RAISES (ConnormError): CN002 for a concept that the index lacks, CN003 for an empty text;
        nothing is removed then.
    WARNS (ConnormWarning): CNW001 for a pair that does not stand in the index.
    """
    pairs = _pairs(synonyms, index)
    keys = encoder.inputs(text for text, _ in pairs) if pairs else []
    for key, (text, number) in zip(keys, pairs, strict=True):
        if not overlay.remove(key, number):
            (concept_id, _) = index.store.labels([number])[number]
            warn(Warnings.CNW001.format(text=text, concept=concept_id))


def _pairs(synonyms: Iterable[tuple[str, str]], index: ConceptIndex) -> list[tuple[str, int]]:
    return [(_text(text), _number(concept_id, index)) for text, concept_id in synonyms]


def _number(concept_id: str, index: ConceptIndex) -> int:
    number = index.store.number(clean(concept_id))
    if number is None:
        raise ConnormError(Errors.CN002.format(concept=concept_id))
    return number


def _text(text: str) -> str:
    cleaned = clean(text)
    if not cleaned:
        raise ConnormError(Errors.CN003.format(text=text))
    return cleaned
