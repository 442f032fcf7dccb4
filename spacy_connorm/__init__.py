from .about import __version__
from .concepts import Candidate, Concept, Ontology

__all__ = ["Candidate", "Concept", "Ontology", "__version__"]
