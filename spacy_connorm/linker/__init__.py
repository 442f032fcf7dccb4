"""Turn mentions into candidates, without any `Doc`.

`linking` has the steps for a mention: it is cleaned, interpreted, encoded, searched by a sieve and
rescored, and the best interpretation is chosen. `lookup` holds the parts that this needs: encoder,
index and added synonyms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
