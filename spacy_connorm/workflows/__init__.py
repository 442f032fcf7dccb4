"""The work of each command, as one public function: index, search, annotate, map, correct."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
