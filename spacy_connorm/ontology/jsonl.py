"""scispaCy's knowledge-base JSONL, which is also our own format."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from ..concepts import SCOPES, Concept, read_concepts
from ..concepts.licence import read_licence
from ..errors import require_choice
from .report import ReadReport

EXACT = "EXACT"
ALL_SCOPES = (EXACT, *map(str.upper, SCOPES))


def read_jsonl(
    path: str | Path,
    *,
    scopes: Collection[str] = ALL_SCOPES,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read a knowledge base with one JSON object per line.

    path (Union[str, Path]): A `.jsonl` or `.jsonl.gz` file.
    scopes (Collection[str]): The synonyms to read, by their scope.
    report (Optional[ReadReport]): Filled with the licence stored beside the file.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN103 for a line that is not a concept, CN118 for an unknown scope, and
        what `read_lines` raises.
    """
    for scope in scopes:
        require_choice("scopes", scope, ALL_SCOPES)
    if report is not None:
        report.licence = read_licence(path)
    for concept in read_concepts(path):
        yield concept if set(scopes) >= set(ALL_SCOPES) else _with_scopes(concept, scopes)


def _with_scopes(concept: Concept, scopes: Collection[str]) -> Concept:
    own = {scope: getattr(concept, scope) * (scope.upper() in scopes) for scope in SCOPES}
    kept = {name for names in own.values() for name in names}
    if EXACT in scopes:
        kept.update(concept.exact_names)
    aliases = tuple(alias for alias in concept.aliases if alias in kept)
    return replace(concept, aliases=aliases, **own)
