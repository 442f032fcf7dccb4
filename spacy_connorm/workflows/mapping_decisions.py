"""What people decide about a mapping."""

import json
import re
from dataclasses import replace
from datetime import date

from ..documents.sssom import ACCEPTED, MANUAL, NO_TERM, UNMATCHED, TermMapping
from ..errors import refuse_text
from .mapping_relations import EXACT

ORCID = "orcid"


_ORCID = re.compile(r"(?:https?://orcid\.org/|orcid:)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")


# The fields that a decision replaces, and that undoing it restores.
_REPLACED = (
    "predicate_id",
    "object_id",
    "mapping_justification",
    "object_label",
    "author_id",
    "author_label",
    "mapping_date",
    "confidence",
    "similarity_score",
    "match_string",
    "status",
    "correction",
)


def decide_mapping(
    mapping: TermMapping,
    *,
    object_id: str,
    object_label: str,
    predicate_id: str = EXACT,
    author: str = "",
    correction: str = "",
) -> TermMapping:
    """Write a person's decision to a row. The content of the row before any decision is kept.

    mapping (TermMapping): The row.
    object_id (str): The concept, as a CURIE, or `NO_TERM` if no concept has the term's meaning.
    object_label (str): Its name.
    predicate_id (str): One of `PREDICATES`.
    author (str): A name or an ORCID iD; may be empty.
    correction (str): The id of the corresponding correction.
    RETURNS (TermMapping): The new row.
    RAISES (ConnormError): CN006 for an author with `|`, which separates authors in SSSOM.
    """
    if "|" in author:
        refuse_text("author", author, "one name, without `|`")
    found = _ORCID.fullmatch(author.strip())
    values = {name: getattr(mapping, name) for name in _REPLACED}
    kept = mapping.proposal or json.dumps(values, ensure_ascii=False)
    is_none = object_id == NO_TERM
    return replace(
        mapping,
        predicate_id=EXACT if is_none else predicate_id,
        object_id=object_id,
        object_label="" if is_none else object_label,
        mapping_justification=MANUAL,
        author_id=f"{ORCID}:{found[1]}" if found else "",
        author_label="" if found else author.strip(),
        mapping_date=date.today().isoformat(),
        confidence=None,
        similarity_score=None,
        match_string="",
        status=UNMATCHED if is_none else ACCEPTED,
        correction=correction,
        proposal=kept,
    )


def take_back(mapping: TermMapping) -> TermMapping:
    """Undo a person's decision.

    RETURNS (TermMapping): The row as it was before the decision; the same row if there was none, or
        if the earlier content is damaged.
    """
    try:
        values = json.loads(mapping.proposal)
    except ValueError:
        return mapping
    if not isinstance(values, dict) or values.keys() != set(_REPLACED):
        return mapping
    return replace(mapping, **values, proposal="")
