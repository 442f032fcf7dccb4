"""Find mentions in plain text: windows of tokens that have the words of a name in the index."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
