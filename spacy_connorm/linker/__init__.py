"""Turn mentions into candidates, without any `Doc`.

`linking` has the way of a mention: it is cleaned, interpreted (`texts`), encoded (`retriever`),
searched by a sieve and rescored (`sieve`, `rescoring`), and the best interpretation is chosen
(`decision`). A `Query` has all settings of a call. `lookup` holds what this needs: encoder, index
and added synonyms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
