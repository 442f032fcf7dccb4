"""The codes of candidates in other vocabularies."""

from collections.abc import Sequence
from typing import NamedTuple

from ..concepts import Candidate
from ..concepts.curies import PrefixMap, split_curie
from ..errors import ConnormError, Errors
from ..index.concept_index import ConceptIndex


class CodeSystems(NamedTuple):
    """The vocabularies in which candidates tell their codes.

    names (Tuple[str, ...]): Their prefixes, in the spelling of the prefix map.
    prefixes (PrefixMap): The prefix map.
    """

    names: tuple[str, ...]
    prefixes: PrefixMap

    @classmethod
    def of(cls, systems: Sequence[str], prefixes: PrefixMap, index: ConceptIndex) -> "CodeSystems":
        """Look up vocabularies.

        systems (Sequence[str]): Their prefixes, in any spelling.
        prefixes (PrefixMap): The prefix map.
        index (ConceptIndex): Has the codes.
        RETURNS (CodeSystems): The vocabularies.
        RAISES (ConnormError): CN413 for a vocabulary in which no concept has a code.
        """
        known = index.store.vocabularies
        names = tuple(dict.fromkeys(map(prefixes.prefix, systems)))
        for system in sorted(set(names) - set(map(prefixes.prefix, known))):
            shown = ", ".join(known) or "none"
            raise ConnormError(Errors.CN413.format(path=index.folder, system=system, known=shown))
        return cls(names, prefixes)

    def with_codes(
        self, found: dict[str, list[Candidate]], index: ConceptIndex
    ) -> dict[str, list[Candidate]]:
        """RETURNS (Dict[str, List[Candidate]]): The same candidates with their `codes`.

        found (Dict[str, List[Candidate]]): Candidates by text.
        index (ConceptIndex): Found them.
        """
        ids = {candidate.concept_id for candidates in found.values() for candidate in candidates}
        xrefs = index.store.xrefs(ids)
        codes = {each: self._codes(each, xrefs.get(each, ())) for each in ids}
        return {
            text: [each._replace(codes=codes[each.concept_id]) for each in candidates]
            for text, candidates in found.items()
        }

    def _codes(self, concept_id: str, xrefs: Sequence[str]) -> dict[str, list[str]]:
        codes: dict[str, list[str]] = {system: [] for system in self.names}
        own = self.prefixes.own_curie(concept_id, xrefs)
        for curie in self.prefixes.curies((own, *xrefs)):
            prefix, local_id = split_curie(curie)
            if prefix in codes:
                codes[prefix].append(local_id)
        return codes
