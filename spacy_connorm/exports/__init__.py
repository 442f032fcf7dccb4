"""What leaves: annotated documents in the formats that other systems read, one file a format."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
