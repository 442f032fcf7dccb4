"""Words that an ontology's own names use in place of each other, learned while it is indexed."""

from collections.abc import Iterator

from ..concepts import AnyOntology, Concept, ConceptStream
from ..pipeline.initialization import Given, read_given
from ..text.substitutions import Substitution, find_substitutions

# About a kilobyte per name is kept meanwhile, and learning takes some ten seconds for 100,000.
_MOST_NAMES = 200_000


class OwnWords:
    """Passes an ontology on to be indexed, and keeps its first names."""

    def __init__(self, ontology: Given[AnyOntology]) -> None:
        """ontology (Union[Ontology, ConceptStream, Callable]): The ontology, or a function that
        reads it.
        """
        self._ontology = ontology
        self._names: list[tuple[str, ...]] = []

    def ontology(self) -> ConceptStream:
        """RETURNS (ConceptStream): The same concepts, to be read once.
        RAISES (ConnormError): CN006 for anything but an ontology.
        """
        ontology = read_given(self._ontology)
        return ConceptStream(self._remembered(ontology), ontology.source)

    def _remembered(self, ontology: AnyOntology) -> Iterator[Concept]:
        count = 0
        for concept in ontology:
            if count < _MOST_NAMES:
                self._names.append(concept.names)
                count += len(concept.names)
            yield concept

    def substitutions(self) -> Iterator[Substitution]:
        """YIELDS (Substitution): What the names show. Ask for them when the concepts have been
        read.
        """
        yield from find_substitutions([self._names])
