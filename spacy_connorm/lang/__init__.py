"""Language as data: the words of each language in tables, which the rest of the package reads."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
