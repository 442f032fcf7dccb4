"""Concept normalization for spaCy: the names that notebooks and pipelines use, each loaded on first
access.
"""

import lazy_loader

from .about import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
