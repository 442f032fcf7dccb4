"""The vectors of an index: dense, quantized, sparse or hybrid; memory-mapped."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
