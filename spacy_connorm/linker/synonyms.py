"""Change the synonyms of a retriever: texts and concept ids, as users give them."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import Raw
from ..errors import ConnormError, Errors, Warnings, quote, quote_id, refuse, refuse_text, warn
from ..index.concept_index import ConceptIndex
from ..index.overlay import Synonym, SynonymOverlay
from ..index.vectors.base import from_raw
from ..text.cleaning import clean
from .retriever import Retriever

# Files of synonyms have counts of up to six digits.
_MAX_COUNT = 999_999


class ChangedSynonym(NamedTuple):
    """A synonym that a user added or removed.

    text (str): The text.
    concept_id (str): What it denotes.
    times (int): How often D says so, besides what the index says; 0 if it was removed.
    """

    text: str
    concept_id: str
    times: int = 1


def with_added(
    retriever: Retriever, synonyms: Iterable[tuple[str, str]], *, count: int
) -> Retriever:
    """RETURNS (Retriever): The same with more synonyms; see `ConceptLookup.add_synonyms`."""
    if not isinstance(count, int) or not 1 <= count <= _MAX_COUNT:
        refuse("count", count, f"a whole number from 1 to {_MAX_COUNT}")
    added = find_synonyms(synonyms, retriever.index, retriever.encoder)
    if not added:
        return retriever
    vectors = encode_synonyms(added, retriever.encoder)
    overlay = retriever.overlay.with_synonyms(added, vectors, count=count)
    in_all = max(map(overlay.own_count, added))
    if in_all > _MAX_COUNT:
        refuse("count", in_all, f"at most {_MAX_COUNT}, with what was added before")
    return retriever.with_overlay(overlay)


def with_removed(retriever: Retriever, removed: Iterable[Synonym]) -> Retriever:
    """RETURNS (Retriever): The same without some synonyms."""
    return retriever.with_overlay(retriever.overlay.without_synonyms(removed))


def with_changed(retriever: Retriever, changes: Iterable[ChangedSynonym]) -> Retriever:
    """Replace all changes since the index was built.

    retriever (Retriever): The retriever.
    changes (Iterable[ChangedSynonym]): What `changed_synonyms` returned.
    RETURNS (Retriever): The same with these changes instead.
    RAISES (ConnormError): As `ConceptLookup.add_synonyms`.
    """
    changes = list(changes)
    gone = ((text, concept_id) for text, concept_id, count in changes if not count)
    removed = find_synonyms(gone, retriever.index, retriever.encoder)
    unchanged = retriever.with_overlay(SynonymOverlay(retriever.index))
    changed = with_removed(unchanged, removed)
    added = (each for each in changes if each.times)
    for count, some in groupby(added, key=attrgetter("times")):
        changed = with_added(changed, [each[:2] for each in some], count=count)
    return changed


def changed_synonyms(overlay: SynonymOverlay, index: ConceptIndex) -> list[ChangedSynonym]:
    """List what was changed since the index was built.

    overlay (SynonymOverlay): The changes.
    index (ConceptIndex): The index they belong to.
    RETURNS (List[ChangedSynonym]): The removed synonyms, then the added ones in order.
    """
    removed = sorted(overlay.removed)
    members = [int(index.members.of(*pair)[0]) for pair in removed]
    texts = index.store.texts(members)
    added = [(each, overlay.own_count(each)) for each in overlay.synonyms]
    numbers = {concept for _, concept in removed} | {each.concept for each, _ in added}
    ids = {number: concept_id for number, (concept_id, _) in index.store.labels(numbers).items()}
    return [
        *(
            ChangedSynonym(texts[member], ids[concept], 0)
            for member, (_, concept) in zip(members, removed, strict=True)
        ),
        *(ChangedSynonym(each.text, ids[each.concept], count) for each, count in added),
    ]


def as_pairs(synonyms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Collect synonyms. Anything that would be unpacked wrongly is refused, such as a pair that
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
    number = index.store.number(concept_id)
    if number is None:
        raise ConnormError(Errors.CN002.format(concept=quote_id(concept_id)))
    return number


def _text(text: str, number: int) -> str:
    cleaned = clean(text)
    if not cleaned:
        raise ConnormError(Errors.CN003.format(number=number, text=quote(text)))
    return cleaned
