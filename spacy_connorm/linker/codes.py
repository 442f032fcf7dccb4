"""The codes of candidates in other vocabularies."""

from collections.abc import Sequence

from ..concepts import Candidate
from ..concepts.curies import PrefixMap, split_curie
from ..errors import ConnormError, Errors
from ..index.concept_index import ConceptIndex


def require_systems(index: ConceptIndex, systems: Sequence[str], prefixes: PrefixMap) -> None:
    """Refuse vocabularies in which no concept has a code.

    index (ConceptIndex): The index.
    systems (Sequence[str]): Their prefixes, in any spelling.
    prefixes (PrefixMap): The prefix map.
    RAISES (ConnormError): CN413 for a vocabulary that the index lacks.
    """
    if not systems:
        return
    known = index.store.vocabularies
    missing = {prefixes.prefix(each) for each in systems} - set(map(prefixes.prefix, known))
    for system in sorted(missing):
        shown = ", ".join(known) or "none"
        raise ConnormError(Errors.CN413.format(path=index.folder, system=system, known=shown))


def with_codes(
    found: Sequence[list[Candidate]],
    index: ConceptIndex,
    systems: Sequence[str],
    prefixes: PrefixMap,
) -> list[list[Candidate]]:
    """Add codes to candidates.

    found (Sequence[List[Candidate]]): b lists.
    index (ConceptIndex): Found them.
    systems (Sequence[str]): The prefixes of vocabularies, in any spelling; each gets the spelling
        of the prefix map.
    prefixes (PrefixMap): The prefix map.
    RETURNS (List[List[Candidate]]): The same candidates with `codes`.
    """
    wanted = list(dict.fromkeys(map(prefixes.prefix, systems)))
    ids = {candidate.concept_id for candidates in found for candidate in candidates}
    xrefs = index.store.xrefs(ids)
    codes = {each: _codes(each, xrefs.get(each, ()), wanted, prefixes) for each in ids}
    return [
        [each._replace(codes=codes[each.concept_id]) for each in candidates] for candidates in found
    ]


def _codes(
    concept_id: str, xrefs: Sequence[str], systems: Sequence[str], prefixes: PrefixMap
) -> dict[str, list[str]]:
    own = prefixes.own_curie(concept_id, xrefs)
    codes: dict[str, list[str]] = {system: [] for system in systems}
    for curie in prefixes.curies((own, *xrefs)):
        prefix, local_id = split_curie(curie)
        if prefix in codes:
            codes[prefix].append(local_id)
    return codes
