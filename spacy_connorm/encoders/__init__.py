"""Encoders: strings in, one float32 vector per string out.

`protocol` tells what every encoder offers and how a new one is added.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
