"""The codes of candidates in other vocabularies."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..concepts import Candidate
from ..concepts.curies import PrefixMap, split_curie
from ..errors import Errors
from ..index.concept_index import ConceptIndex


class CodeSystems(NamedTuple):
    """The vocabularies in which candidates get codes.

    names (Tuple[str, ...]): Their prefixes, in the spelling of the prefix map.
    prefixes (PrefixMap): The prefix map.
    """

    names: tuple[str, ...]
    prefixes: PrefixMap

    @classmethod
    def of(cls, systems: Sequence[str], prefixes: PrefixMap, index: ConceptIndex) -> "CodeSystems":
        """Look up vocabularies in the prefix map.

        systems (Sequence[str]): Their prefixes, in any spelling.
        prefixes (PrefixMap): The prefix map.
        index (ConceptIndex): The index with the codes.
        RETURNS (CodeSystems): The vocabularies.
        RAISES (ConnormError): CN413 for a vocabulary in which no concept has a code.
        """
        known = index.store.vocabularies
        names = tuple(dict.fromkeys(map(prefixes.prefix, systems)))
        for system in sorted(set(names) - set(map(prefixes.prefix, known))):
            raise Errors.CN413(path=index.folder, system=system, known=", ".join(known) or "none")
        return cls(names, prefixes)

    def with_codes(
        self, candidates: Mapping[str, Sequence[Candidate]], index: ConceptIndex
    ) -> dict[str, list[Candidate]]:
        """Add codes to candidates.

        candidates (Mapping[str, Sequence[Candidate]]): Candidates by text.
        index (ConceptIndex): The index that they were found in.
        RETURNS (Dict[str, List[Candidate]]): The same candidates with their `codes`.
        """
        ids = {candidate.concept_id for group in candidates.values() for candidate in group}
        xrefs = index.store.xrefs(ids)
        codes = {
            concept_id: self._codes(concept_id, xrefs.get(concept_id, ())) for concept_id in ids
        }
        return {
            text: [candidate._replace(codes=codes[candidate.concept_id]) for candidate in group]
            for text, group in candidates.items()
        }

    def _codes(self, concept_id: str, xrefs: Sequence[str]) -> dict[str, list[str]]:
        codes: dict[str, list[str]] = {system: [] for system in self.names}
        own_curie = self.prefixes.own_curie(concept_id, xrefs)
        for curie in self.prefixes.curies((own_curie, *xrefs)):
            prefix, local_id = split_curie(curie)
            if prefix in codes:
                codes[prefix].append(local_id)
        return codes
