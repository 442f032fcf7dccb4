"""Scores of pipelines: what counts as right, metrics, confidence intervals, tables.

Pure functions over mentions and candidates; `pipelines` searches with saved pipelines and scores
them. No running pipeline imports this package.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
