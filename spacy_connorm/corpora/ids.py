"""Gold concept ids, written one way whatever the corpus."""

import re

from ..annotations.mentions import NO_ID

_SEPARATORS = re.compile(r"([|+,;])")
_BARE_PREFIXES = ("MESH:", "UMLS:")
_NO_IDS = ("", "-", NO_ID)


def normalize_ids(ids: str) -> str:
    """Write the gold ids of a mention as design asks: MeSH ids and CUIs bare, OMIM ids as
    `OMIM:106210`, `|` between those of a composite, `+` between those of a combination.

    NLM-Chem's `,` becomes `+`: nearly all of its lists describe one thing by several concepts
    (`PBS-T`, `sodium pyruvate`). PubTator Central's `;` becomes `|`. A part that no concept fits
    stays as `-1`, so that the number of parts stays true.

    ids (str): The ids as annotated.
    RETURNS (str): The ids; empty if there is none at all.
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
