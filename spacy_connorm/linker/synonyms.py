"""Synonyms of users, texts and concept ids, as the index has them."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import Raw
from ..errors import ConnormError, Errors, Warnings, quote, quote_id, refuse_text, warn
from ..index.concept_index import ConceptIndex
from ..index.overlay import Synonym, SynonymOverlay
from ..index.vectors.base import from_raw
from ..text.cleaning import clean


def as_pairs(synonyms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Collect synonyms. Anything that would be taken apart wrongly is refused, such as a pair that
    is not in a list.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
    RETURNS (List[Tuple[str, str]]): The same.
    RAISES (ConnormError): CN006.
    """
    pairs = list(synonyms)
    for place, pair in enumerate(pairs):
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not all(isinstance(each, str) for each in pair):
            refuse_text(f"synonyms[{place}]", pair, "a pair of a text and a concept id")
    return pairs


def find_synonyms(
    synonyms: Iterable[tuple[str, str]], index: ConceptIndex, encoder: NormalizedEncoder
) -> list[Synonym]:
    """Find the concepts of synonyms, and what the encoder sees of their texts.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
    index (ConceptIndex): Has the concepts.
    encoder (NormalizedEncoder): Built the index.
    RETURNS (List[Synonym]): One for each pair.
    RAISES (ConnormError): CN006 for anything but pairs, CN002 for a concept that the index lacks,
        CN003 for an empty text.
    """
    pairs = [
        (_text(text, number), _number(concept, index))
        for number, (text, concept) in enumerate(as_pairs(synonyms), start=1)
    ]
    keys = encoder.inputs(text for text, _ in pairs) if pairs else []
    return [Synonym(key, *pair) for key, pair in zip(keys, pairs, strict=True)]


def encode_synonyms(synonyms: Sequence[Synonym], encoder: NormalizedEncoder) -> Raw:
    """Encode the texts of synonyms.

    synonyms (Sequence[Synonym]): n synonyms, at least one.
    encoder (NormalizedEncoder): The encoder.
    RETURNS (Raw): Raw vectors, (n, width).
    RAISES (ConnormError): CN009 for a text of which the encoder knows nothing.
    """
    vectors = encoder.encode_inputs([each.key for each in synonyms])
    for place in np.flatnonzero(from_raw(vectors).norms == 0).tolist():
        raise ConnormError(Errors.CN009.format(number=place + 1, text=quote(synonyms[place].text)))
    return vectors


def warn_of_missing(
    synonyms: Sequence[Synonym], overlay: SynonymOverlay, index: ConceptIndex
) -> None:
    """Warn of synonyms that are neither in the index nor beside it.

    synonyms (Sequence[Synonym]): The synonyms.
    overlay (SynonymOverlay): The synonyms beside the index.
    index (ConceptIndex): The index.
    WARNS (ConnormWarning): CNW001 for each.
    """
    for number, each in enumerate(synonyms, start=1):
        if not overlay.has(each):
            (concept_id, _) = index.store.labels([each.concept])[each.concept]
            text, concept = quote(each.text), quote_id(concept_id)
            warn(Warnings.CNW001.format(number=number, text=text, concept=concept))


def _number(concept_id: str, index: ConceptIndex) -> int:
    number = index.store.number(clean(concept_id))
    if number is None:
        raise ConnormError(Errors.CN002.format(concept=quote_id(concept_id)))
    return number


def _text(text: str, number: int) -> str:
    cleaned = clean(text)
    if not cleaned:
        raise ConnormError(Errors.CN003.format(number=number, text=quote(text)))
    return cleaned
