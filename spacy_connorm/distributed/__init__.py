"""Corpora in fragments: annotated by several processes, one output file for each input file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
