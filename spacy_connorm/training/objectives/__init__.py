"""The losses of training. `pair_losses` compare texts by their concepts, those in `ranking` rank
candidates, and `conceptual_grounding` moves names towards prototypes. The package does not load
torch, but its modules do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
