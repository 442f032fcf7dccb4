"""Concepts whose ids have the prefix of their vocabulary."""

import re
from dataclasses import replace

from ..concepts import Concept
from ..concepts.curies import PREFIXES, join_curie, split_curie


def with_curies(concept: Concept) -> Concept:
    """Write the id of a concept, its alternate ids and its parents with their prefixes. The ids as
    they were become alternate ids, so that corpora and synonyms may still have them.

    concept (Concept): The concept. A cross-reference may tell the vocabulary of its id; otherwise
        its form may (MeSH, UMLS).
    RETURNS (Concept): The concept; the same if nothing tells the vocabulary of its id. Other ids
        that look like its own, or whose form tells no vocabulary, get the same prefix.
    """
    own = PREFIXES.own_curie(concept.concept_id, concept.xrefs)
    if not own:
        return concept
    vocabulary, local_id = split_curie(own)

    def prefixed(concept_id: str) -> str:
        # Ids of other vocabularies may have the form of MeSH's: NCIT:C102870.
        is_alike = _outline(concept_id) == _outline(local_id)
        told = PREFIXES.curie if is_alike else PREFIXES.own_curie
        return told(concept_id) or join_curie(vocabulary, concept_id)

    alt_ids = (*map(prefixed, concept.alt_ids), concept.concept_id, *concept.alt_ids)
    return replace(
        concept,
        concept_id=own,
        parents=tuple(map(prefixed, concept.parents)),
        alt_ids=tuple(each for each in dict.fromkeys(alt_ids) if each != own),
    )


def _outline(local_id: str) -> str:
    return re.sub(r"\d+", "0", local_id)
