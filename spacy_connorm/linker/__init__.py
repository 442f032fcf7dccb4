"""From mentions to candidates. It knows no `Doc`.

`lookup` is the core: it holds encoder, index, sieve and added synonyms. `interpretations` reads a
mention in several ways and asks the lookup, whose `retriever` answers from the cache, the memo or a
search.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
