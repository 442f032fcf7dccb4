"""What spaCy sees: the concept normalizer and the components around it, their settings, saving and
loading.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
