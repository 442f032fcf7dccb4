"""What spaCy sees: the concept normalizer and its companions, built, saved, loaded and asked."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
