"""A lookup without some documents of D: it answers as if they were new."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace

from ..index.concept_index import ConceptIndex
from ..index.members import O
from ..index.overlay import Synonym
from ..text.cleaning import clean
from .cascade import CascadeLookup
from .lookup import ConceptLookup
from .retriever import Retriever
from .synonyms import find_synonyms


def hold_out(lookup: ConceptLookup, synonyms: Iterable[tuple[str, str]]) -> ConceptLookup:
    """Leave out what only some mentions add to D. What the ontology or other mentions say,
    too, stays, and is counted as before: counts decide between concepts of one text.

    lookup (ConceptLookup): A lookup or a cascade; it does not change.
    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids of the mentions, once an occurrence.
        They must be in D: else what another mention says would be left out. Concepts that the
        index lacks are ignored.
    RETURNS (ConceptLookup): One that does not find these texts in D. It has no memo.
    RAISES (ConnormError): CN001 as `ConceptLookup.retriever`.
    """
    pairs = list(synonyms)
    held = copy(lookup)
    retriever = lookup.retriever
    left_out = _only_here(known_synonyms(pairs, lookup), retriever)
    overlay = retriever.overlay.without_synonyms(left_out)
    held._retriever = replace(retriever, overlay=overlay, memo=None)
    if isinstance(held, CascadeLookup):
        held.second = hold_out(held.second, pairs)
    return held


def known_synonyms(synonyms: Iterable[tuple[str, str]], lookup: ConceptLookup) -> list[Synonym]:
    """RETURNS (List[Synonym]): What the encoder sees of synonyms, without those of concepts that
    the index lacks and those without a visible character.
    RAISES (ConnormError): CN006 for anything but pairs.
    """
    index, encoder = lookup.index, lookup.normalized_encoder
    known = [
        (text, concept)
        for text, concept in synonyms
        if clean(text) and index.store.number(concept) is not None
    ]
    return find_synonyms(known, index, encoder)


def _only_here(synonyms: Sequence[Synonym], retriever: Retriever) -> list[Synonym]:
    """RETURNS (List[Synonym]): The synonyms that nobody else gives: neither O, nor D more often
    than they are listed, with those that users have added.
    """
    listed = Counter((each.key, each.concept) for each in synonyms)
    distinct = {(each.key, each.concept): each for each in synonyms}
    counts = retriever.overlay.counts
    return [
        each
        for (key, concept), each in distinct.items()
        if counts(key).get(concept, 0) <= listed[key, concept]
        and not _is_in_o(each, retriever.index)
    ]


def _is_in_o(synonym: Synonym, index: ConceptIndex) -> bool:
    row = index.keys.row(synonym.key)
    if row is None:
        return False
    return bool((index.members.target[index.members.of(row, synonym.concept)] & O).any())
