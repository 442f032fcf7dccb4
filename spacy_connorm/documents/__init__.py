"""What a `Doc` carries (mentions, abbreviations, candidates and concept ids on spans), and the
formats of annotated documents.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
