"""Write gold concept ids of all corpora in the same way."""

import re

from ..annotations.mentions import NO_ID

_SEPARATORS = re.compile(r"([|+,;])")
_BARE_PREFIXES = ("MESH:", "UMLS:")
_NO_IDS = ("", "-", NO_ID)


def normalize_ids(ids: str) -> str:
    """Normalize the gold ids of a mention: MeSH ids and CUIs without prefix, OMIM ids as
    `OMIM:106210`, separated by `|` in a composite and by `+` in a combination.

    NLM-Chem's `,` becomes `+`: nearly all of its lists describe one thing by several concepts
    (`PBS-T`, `sodium pyruvate`). PubTator Central's `;` becomes `|`. A part without a concept
    becomes `-1`, so that the number of parts is kept.

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
    for prefix in _BARE_PREFIXES:
        if concept_id.upper().startswith(prefix):
            concept_id = concept_id[len(prefix) :]
    return NO_ID if concept_id in _NO_IDS else concept_id
