"""From mentions to candidates. It knows no `Doc`.

`linking` is the way of a mention: cleaned, interpreted, encoded, searched by a sieve, rescored, and
the best interpretation chosen. `lookup` holds what that needs: encoder, index and added synonyms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
