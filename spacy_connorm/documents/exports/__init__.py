"""Annotated documents in the formats that other systems read, one file per format."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
