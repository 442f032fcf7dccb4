"""A web page and an API for one pipeline, and the corrections that people make there."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
