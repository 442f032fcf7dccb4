"""What training minimizes. Each file holds one objective: its settings, its equation and its loss;
`ranking` holds the two that rank candidates. The package loads no torch, its files do.

Where pytorch-metric-learning has a loss over a matrix of similarities and masks of positives and
negatives, it computes the objective; the others say in a comment why none of its losses fits.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
