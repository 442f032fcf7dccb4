"""Scores of pipelines: what counts as right, metrics, confidence intervals, tables.

`evaluation_run` scores saved pipelines and `calibration` fits them to dev data. Running pipelines
never import this package.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
