"""Tables of local terms, mapped to the concepts of a pipeline, and what people decide of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
