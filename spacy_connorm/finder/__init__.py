"""Mentions in plain text: windows with the words of a name of the index."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
