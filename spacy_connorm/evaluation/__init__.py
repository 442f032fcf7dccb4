"""How right a pipeline is: what counts as right, scores, their intervals, tables.

Pure functions over mentions and candidates; no running pipeline imports this package.
"""

from .metrics import Evaluation, score_predictions
from .protocol import Gold, Known, Prediction, read_gold

__all__ = ["Evaluation", "Gold", "Known", "Prediction", "read_gold", "score_predictions"]
