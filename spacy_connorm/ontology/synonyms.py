"""Synonyms by scope: exact, narrow, broad and related ones; and those that are two names."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from ..concepts import SCOPES, Concept
from ..concepts.concept import ALL_SCOPES, EXACT
from ..errors import require_choice
from ..text.short_forms import is_short_form
from .report import ReadReport

_DASH = " - "


def require_scopes(scopes: Iterable[str]) -> None:
    """Refuse scopes that synonyms do not have.

    scopes (Iterable[str]): The scopes to read.
    RAISES (ConnormError): CN118.
    """
    for scope in scopes:
        require_choice("scopes", scope, ALL_SCOPES)


def names_by_scope(
    synonyms: Iterable[tuple[str, str]],
    scopes: Collection[str],
    concept_id: str,
    report: ReadReport,
) -> dict[str, Any]:
    """Sort the synonyms of a concept by scope.

    synonyms (Iterable[Tuple[str, str]]): Synonyms and their scopes (`ALL_SCOPES`).
    scopes (Collection[str]): The scopes to read.
    concept_id (str): Its id.
    report (ReadReport): Counts synonyms by scope, and those of other scopes as left out.
    RETURNS (Dict[str, Tuple[str, ...]]): The fields `aliases`, `narrow`, `broad` and `related` of
        the concept. A synonym that is also exact is in `aliases` only.
    """
    read = []
    for text, scope in synonyms:
        if scope in scopes:
            report.scopes[scope] += 1
            read.append((text, scope))
        else:
            report.leave_out(f"a synonym of scope {scope}", f"'{text}' of {concept_id}")
    exact = {text for text, scope in read if scope == EXACT}
    inexact = {
        field: tuple(text for text, scope in read if scope == field.upper() and text not in exact)
        for field in SCOPES
    }
    return {"aliases": tuple(text for text, _ in read), **inexact}


def split_short_forms(concept: Concept) -> Concept:
    """Split synonyms that are a short form and its long form: SNOMED CT has "LBP - Low back pain".

    concept (Concept): The concept.
    RETURNS (Concept): The concept with both in place of each; the same object if it has none.
    """
    if not any(len(_parts_of(alias)) > 1 for alias in concept.aliases):
        return concept
    lists: dict[str, Any] = {
        field: tuple(dict.fromkeys(chain.from_iterable(map(_parts_of, getattr(concept, field)))))
        for field in ("aliases", *SCOPES)
    }
    languages = ((part, code) for text, code in concept.languages for part in _parts_of(text))
    return replace(concept, **lists, languages=tuple(dict.fromkeys(languages)))


def _parts_of(synonym: str) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): A short form and its long form; other synonyms as they are, such
    as "PNS - somatic".
    """
    short, dash, long = synonym.partition(_DASH)
    is_pair = dash and short[:1].lower() == long[:1].lower() and is_short_form(short)
    return (short, long) if is_pair else (synonym,)
