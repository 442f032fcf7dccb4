"""What a `Doc` carries: mentions, abbreviations, candidates and concept ids on spans."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
