"""The index: the names of all concepts as vectors, in one folder, and the searches over them.

`builder` writes it, `vectors` and `store` read it, `backends` find the nearest vectors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
