"""Words that an ontology's own names use in place of each other, learned while it is indexed."""

from collections.abc import Iterator

from ..concepts import AnyOntology, Concept, ConceptStream
from ..text.substitutions import Substitution, find_substitutions

# About a kilobyte a name is kept meanwhile, and learning takes some ten seconds for 100,000.
_MOST_NAMES = 200_000


class OwnWords:
    """Reads an ontology on behalf of who indexes it, and remembers its first names."""

    def __init__(self, ontology: AnyOntology) -> None:
        """ontology (Union[Ontology, ConceptStream]): Read once."""
        self._ontology = ontology
        self._names: list[tuple[str, ...]] = []

    @property
    def ontology(self) -> ConceptStream:
        """RETURNS (ConceptStream): The same concepts, to be read once."""
        return ConceptStream(self._remembered(), self._ontology.source)

    def _remembered(self) -> Iterator[Concept]:
        count = 0
        for concept in self._ontology:
            if count < _MOST_NAMES:
                self._names.append(concept.names)
                count += len(concept.names)
            yield concept

    def substitutions(self) -> Iterator[Substitution]:
        """YIELDS (Substitution): What the names show. Ask for them when the concepts have been
        read.
        """
        yield from find_substitutions([self._names])
