"""Files and folders that are written completely or not at all; text files, tables, XML and arrays;
checksums and configs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
