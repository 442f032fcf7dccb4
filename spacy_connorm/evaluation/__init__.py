"""Scores of pipelines: what counts as right, metrics, confidence intervals, tables.

Pure functions over mentions and candidates; `pipelines` searches with saved pipelines and scores
them. No running pipeline imports this package.
"""

from .metrics import Evaluation, score_predictions
from .protocol import Gold, Known, Prediction, read_gold

__all__ = ["Evaluation", "Gold", "Known", "Prediction", "read_gold", "score_predictions"]
