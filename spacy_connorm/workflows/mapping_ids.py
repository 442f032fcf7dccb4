"""Codes of local terms and ids of concepts as CURIEs, as SSSOM has them."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

from ..concepts.curies import PREFIX, PREFIXES, require_prefix, split_curie
from ..documents.sssom import NO_TERM
from ..errors import refuse

_CURIE = re.compile(rf"{PREFIX.pattern}:[^\s:/|][^\s|]*")


# The prefix of concept ids without a vocabulary.
_CONCEPT, _ONTOLOGY = "concept", "ontology"


_SAFE = "._~-+/"


_ADDRESS = "urn:connorm:{}:"


_BUILT_IN = {"orcid": "https://orcid.org/"}


# Prefixes that are built into SSSOM.
_IMPLIED = {"sssom", "semapv", "skos", "owl", "rdf", "rdfs", "oboInOwl"}


class MappingIds:
    """Converts codes to CURIEs, with the prefixes that the user chose."""

    def __init__(self, prefix: str, addresses: Mapping[str, str]) -> None:
        """Store the user's prefixes.

        prefix (str): The prefix of codes without one.
        addresses (Mapping[str, str]): The beginning of the IRIs of ids, by prefix.
        RAISES (ConnormError): CN006 for an invalid prefix or IRI.
        """
        for name in (prefix, *addresses):
            require_prefix(name)
        for address in addresses.values():
            if not re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+$", address):
                refuse("addresses", address, "an address (IRI) for each prefix")
        self._prefix = PREFIXES.prefix(prefix) if PREFIXES.knows(prefix) else prefix
        self._addresses = {name.upper(): address for name, address in addresses.items()}

    def subject(self, code: str) -> str:
        """Convert the code of a term to a CURIE.

        RETURNS (str): The CURIE. Codes with the prefix of a known vocabulary keep it.
        """
        prefix = split_curie(code)[0]
        is_known = PREFIXES.knows(prefix) or prefix.upper() in self._addresses
        if is_known and _CURIE.fullmatch(code):
            return code
        return _curie(self._prefix, code)

    def source(self, name: str) -> str:
        """Convert the name of a table of terms to a CURIE, with the prefix of its codes."""
        return _curie(self._prefix, name)

    def ontology(self, name: str) -> str:
        """Convert the name of an ontology to a CURIE."""
        return _curie(_ONTOLOGY, name)

    def addresses_of(self, curies: Iterable[str]) -> dict[str, str]:
        """List the IRIs of the prefixes of CURIEs.

        RETURNS (Dict[str, str]): SSSOM's curie_map: IRIs by prefix.
        """
        prefixes = {split_curie(curie)[0] for curie in curies if curie} - _IMPLIED
        return {name: self._address(name) for name in sorted(prefixes)}

    def _address(self, prefix: str) -> str:
        known = self._addresses.get(prefix.upper()) or _BUILT_IN.get(prefix)
        return known or PREFIXES.address(f"{prefix}:") or _ADDRESS.format(prefix)


def _curie(prefix: str, text: str) -> str:
    return f"{prefix}:{quote(text, safe=_SAFE)}"


def concept_curie(concept_id: str, vocabulary: str) -> str:
    """Convert the id of a concept to a CURIE.

    concept_id (str): The id.
    vocabulary (str): The prefix of ids whose form shows none; empty if unknown. See
        `ConceptStore.own_vocabulary`.
    RETURNS (str): A CURIE that `concept_ids_of` can read.
    """
    if _CURIE.fullmatch(concept_id):
        return concept_id
    return PREFIXES.own_curie(concept_id) or _curie(vocabulary or _CONCEPT, concept_id)


def concept_ids_of(curie: str) -> list[str]:
    """List the concept ids that a CURIE may stand for.

    curie (str): A result of `concept_curie`, or any other.
    RETURNS (List[str]): Ids, the most likely first; none for `NO_TERM`.
    """
    if curie == NO_TERM:
        return []
    local_id = split_curie(curie)[1]
    return list(dict.fromkeys((curie, *PREFIXES.spellings_of(curie), local_id, unquote(local_id))))
