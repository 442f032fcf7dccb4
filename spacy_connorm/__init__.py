"""Concept normalization for spaCy: what notebooks and pipelines use, each name loaded when it is
first asked for."""

import lazy_loader

from .about import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
