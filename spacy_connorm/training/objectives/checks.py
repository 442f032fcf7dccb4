"""Checks of an objective's settings and libraries."""

import math

from ...errors import refuse, require_choice, require_installed

COSINE = "cosine"
EUCLIDEAN = "euclidean"
NORMALIZED_EUCLIDEAN = "normalized_euclidean"
KNOWN_DISTANCES = (EUCLIDEAN, NORMALIZED_EUCLIDEAN, COSINE)
INNER_PRODUCT = "inner_product"
KNOWN_SIMILARITIES = (COSINE, INNER_PRODUCT)


def require_libraries() -> None:
    """Check that the libraries behind the objectives are installed.

    RAISES (ConnormError): CN126 for the first that is missing.
    """
    require_installed("Training", "train", "torch", "pytorch_metric_learning")


def require_distance(distance: str) -> None:
    """distance (str): The name of a distance.
    RAISES (ConnormError): CN118 if it is unknown.
    """
    require_choice("distance", distance, KNOWN_DISTANCES)


def require_similarity(similarity: str) -> None:
    """similarity (str): The name of a similarity.
    RAISES (ConnormError): CN118 if it is unknown.
    """
    require_choice("similarity", similarity, KNOWN_SIMILARITIES)


def require_above_zero(**settings: float) -> None:
    """**settings (float): Numbers by name.
    RAISES (ConnormError): CN006 for the first that is not finite and above 0.
    """
    for setting, value in settings.items():
        if not (math.isfinite(value) and value > 0):
            refuse(setting, value, "a number above 0")


def require_at_least_zero(**settings: float | None) -> None:
    """**settings (Optional[float]): Numbers by name; None passes.
    RAISES (ConnormError): CN006 for the first that is not finite or is below 0.
    """
    for setting, value in settings.items():
        if value is not None and not (math.isfinite(value) and value >= 0):
            refuse(setting, value, "a number of at least 0")


def require_cosine(**settings: float) -> None:
    """**settings (float): Numbers by name.
    RAISES (ConnormError): CN006 for the first that is not from -1 to 1.
    """
    for setting, value in settings.items():
        if not -1 <= value <= 1:
            refuse(setting, value, "a cosine, from -1 to 1")
