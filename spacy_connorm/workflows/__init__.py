"""What a command does: index, search, annotate, map, correct; each is one public function."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
