"""Candidates ranked again, by what annotated documents say of each and by the sentence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
