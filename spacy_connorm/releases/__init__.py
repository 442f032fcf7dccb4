"""A new release of an ontology: what it changes, and how users' synonyms follow."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
