"""Gold ids of another vocabulary, replaced by those of an ontology that refers to them."""

import re
from collections import Counter, defaultdict
from dataclasses import replace

from ...concepts import Ontology
from ...concepts.curies import PREFIXES
from ..mentions import Mention, split_ids
from .documents import Document
from .report import AMBIGUOUS, KNOWN, TRANSLATED, UNKNOWN

_SEPARATORS = re.compile(r"([|+])")


class IdTranslation:
    """Replaces the gold ids of documents by an ontology's cross-references."""

    def __init__(self, ontology: Ontology) -> None:
        """ontology (Ontology): Its concepts refer to the ids of the corpus (`xrefs`)."""
        self._ontology = ontology
        self._owners = defaultdict[str, list[str]](list)
        for concept in ontology:
            for curie in PREFIXES.curies(concept.xrefs):
                self._owners[curie].append(concept.concept_id)

    def translate(self, document: Document, counts: Counter[str]) -> Document:
        """Replace the ids of a document's mentions.

        document (Document): The document.
        counts (Counter[str]): Gets what became of each id, mention by mention.
        RETURNS (Document): The same document with the ontology's ids, where exactly one concept
            refers to an id.
        """
        mentions = tuple(self._translated(mention, counts) for mention in document.mentions)
        return replace(document, mentions=mentions)

    def _translated(self, mention: Mention, counts: Counter[str]) -> Mention:
        parts = _SEPARATORS.split(mention.kb_id)
        for place in range(0, len(parts), 2):
            if split_ids(parts[place]):
                parts[place], outcome = self._look_up(parts[place])
                counts[outcome] += 1
        return mention._replace(kb_id="".join(parts))

    def _look_up(self, concept_id: str) -> tuple[str, str]:
        """RETURNS (Tuple[str, str]): The id to write, and what became of the given one."""
        if concept_id in self._ontology:
            return self._ontology.primary_id(concept_id), KNOWN
        owners = self._owners.get(PREFIXES.own_curie(concept_id), [])
        if len(owners) == 1:
            return owners[0], TRANSLATED
        return concept_id, AMBIGUOUS if owners else UNKNOWN
