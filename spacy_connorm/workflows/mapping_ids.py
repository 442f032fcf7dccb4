"""Codes and concept ids as CURIEs, and what their prefixes stand for."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

from ..concepts.curies import PREFIX, PREFIXES, require_prefix, split_curie
from ..documents.sssom import NO_TERM
from ..errors import refuse

_CURIE = re.compile(rf"{PREFIX.pattern}:[^\s:/|][^\s|]*")
# Of concept ids without a vocabulary.
_CONCEPT, _ONTOLOGY = "concept", "ontology"
_SAFE = "._~-+/"
_ADDRESS = "urn:connorm:{}:"
_BUILT_IN = {"orcid": "https://orcid.org/"}
# SSSOM knows these by itself.
_IMPLIED = {"sssom", "semapv", "skos", "owl", "rdf", "rdfs", "oboInOwl"}


class MappingIds:
    """Writes codes and concept ids as CURIEs."""

    def __init__(self, prefix: str, addresses: Mapping[str, str]) -> None:
        """Store the user's prefixes.

        prefix (str): The prefix of codes that have none.
        addresses (Mapping[str, str]): What the addresses (IRIs) of ids begin with, by prefix.
        RAISES (ConnormError): CN006 for what can't be a prefix or an address.
        """
        for each in (prefix, *addresses):
            require_prefix(each)
        for each in addresses.values():
            if not re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+$", each):
                refuse("addresses", each, "an address (IRI) for each prefix")
        self._prefix = PREFIXES.prefix(prefix) if PREFIXES.knows(prefix) else prefix
        self._addresses = {each.upper(): address for each, address in addresses.items()}

    def subject(self, code: str) -> str:
        """RETURNS (str): A code as a CURIE. Codes with the prefix of a known vocabulary keep it."""
        prefix = split_curie(code)[0]
        if prefix and _CURIE.fullmatch(code) and self._knows(prefix):
            return code
        return f"{self._prefix}:{quote(code, safe=_SAFE)}"

    def concept(self, concept_id: str) -> str:
        """RETURNS (str): A concept id as a CURIE; `find_concept_id` reads it."""
        if _CURIE.fullmatch(concept_id):
            return concept_id
        own = PREFIXES.own_curie(concept_id)
        return own or f"{_CONCEPT}:{quote(concept_id, safe=_SAFE)}"

    def source(self, name: str) -> str:
        """RETURNS (str): The name of a table of terms as a CURIE, with the prefix of its codes."""
        return f"{self._prefix}:{quote(name, safe=_SAFE)}"

    def addresses_of(self, curies: Iterable[str]) -> dict[str, str]:
        """RETURNS (Dict[str, str]): SSSOM's curie_map: what the prefixes of CURIEs stand for."""
        prefixes = {split_curie(each)[0] for each in curies if each} - _IMPLIED
        return {each: self._address(each) for each in sorted(prefixes)}

    def _knows(self, prefix: str) -> bool:
        return PREFIXES.knows(prefix) or prefix.upper() in self._addresses

    def _address(self, prefix: str) -> str:
        known = self._addresses.get(prefix.upper()) or _BUILT_IN.get(prefix)
        return known or PREFIXES.address(f"{prefix}:") or _ADDRESS.format(prefix)


def ontology_source(name: str) -> str:
    """RETURNS (str): The name of an ontology's file as a CURIE."""
    return f"{_ONTOLOGY}:{quote(name, safe=_SAFE)}"


def concept_ids_of(curie: str) -> list[str]:
    """List the concept ids that a CURIE may have been written for.

    curie (str): From `MappingIds.concept`, or from others.
    RETURNS (List[str]): Ids, the most likely first; none for `NO_TERM`.
    """
    if curie == NO_TERM:
        return []
    local_id = split_curie(curie)[1]
    return list(dict.fromkeys((curie, *PREFIXES.spellings_of(curie), local_id, unquote(local_id))))
