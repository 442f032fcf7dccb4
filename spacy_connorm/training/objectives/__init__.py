"""What training minimizes: settings, equations and losses. `pair_losses` compare texts by their
concepts, those of `ranking` rank candidates, and `conceptual_grounding` draws names to prototypes.
The package loads no torch, its files do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
