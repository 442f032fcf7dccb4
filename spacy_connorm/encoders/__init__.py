"""Encoders: strings in, one float32 vector per string out.

`protocol` describes what every encoder offers and how to add a new one.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
