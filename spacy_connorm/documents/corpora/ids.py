"""Write gold concept ids of all corpora in the same way."""

import re

from ...concepts.curies import PREFIXES, split_curie
from ..mentions import NO_ID, split_ids

_SEPARATORS = re.compile(r"([|+,;])")
# Corpora write the ids of these without a prefix.
_BARE = ("MESH", "UMLS")
# Of NLM-Chem, for a part without a concept.
_NONE = "-"


def normalize_ids(ids: str) -> str:
    """Normalize the gold ids of a mention: MeSH ids and CUIs without prefix, others with the prefix
    of `curies.PREFIXES`, such as `OMIM:106210`, separated by `|` in a composite and by `+` in a
    combination.

    NLM-Chem's `,` becomes `+`: nearly all of its lists describe one thing by several concepts
    (`PBS-T`, `sodium pyruvate`). PubTator Central's `;` becomes `|`. A part without a concept
    becomes `-1`, so that the number of parts is kept, and so does `CUI-less`.

    ids (str): The ids as annotated.
    RETURNS (str): The ids; empty if there are none.
    """
    parts = _SEPARATORS.split(ids)
    concept_ids = [_normalize_id(part) for part in parts[::2]]
    if all(concept_id == NO_ID for concept_id in concept_ids):
        return ""
    separators = ["", *(part.replace(",", "+").replace(";", "|") for part in parts[1::2])]
    return "".join(
        separator + concept_id
        for separator, concept_id in zip(separators, concept_ids, strict=True)
    )


def _normalize_id(concept_id: str) -> str:
    concept_id = "".join(concept_id.split())
    prefix, local_id = split_curie(concept_id)
    if PREFIXES.prefix(prefix) in _BARE:
        concept_id = local_id
    elif PREFIXES.knows(prefix):
        concept_id = PREFIXES.curie(concept_id)
    return concept_id if split_ids(concept_id) and concept_id != _NONE else NO_ID
