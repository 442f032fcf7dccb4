"""Readers of annotated corpora, one file per format; they yield spaCy documents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
