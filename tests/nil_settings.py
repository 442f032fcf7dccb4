"""Settings with which a mention is NIL if its best score is low, for indexes with too few names for
probabilities of their own.
"""

_STEEP = 1e6


def nil_below(score):
    """Settings of a concept normalizer: a mention whose best score is below this is NIL."""
    calibration = {"intercept": -_STEEP * score, "score": _STEEP, "margin": 0.0}
    return {"nil_threshold": 0.5, "calibration": calibration}
