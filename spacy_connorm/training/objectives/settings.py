"""What the settings of an objective may be."""

import math
from importlib.util import find_spec

from ...errors import ConnormError, Errors

COSINE = "cosine"
EUCLIDEAN = "euclidean"
NORMALIZED_EUCLIDEAN = "normalized_euclidean"
KNOWN_DISTANCES = (EUCLIDEAN, NORMALIZED_EUCLIDEAN, COSINE)
INNER_PRODUCT = "inner_product"
KNOWN_SIMILARITIES = (COSINE, INNER_PRODUCT)


def require_libraries() -> None:
    """Refuse to go on without the libraries that objectives are built on.

    RAISES (ConnormError): CN801 for the first that is not installed.
    """
    for library in ("torch", "pytorch_metric_learning"):
        if find_spec(library) is None:
            raise ConnormError(Errors.CN801.format(library=library))


def check_distance(distance: str) -> None:
    """Refuse a distance that is not known.

    distance (str): Its name.
    RAISES (ConnormError): CN800.
    """
    if distance not in KNOWN_DISTANCES:
        _refuse("distance", distance, "one of " + ", ".join(KNOWN_DISTANCES))


def check_similarity(similarity: str) -> None:
    """Refuse a similarity that is not known.

    similarity (str): Its name.
    RAISES (ConnormError): CN800.
    """
    if similarity not in KNOWN_SIMILARITIES:
        _refuse("similarity", similarity, "one of " + ", ".join(KNOWN_SIMILARITIES))


def check_positive(**settings: float) -> None:
    """Refuse numbers that are not above 0.

    **settings (float): By name.
    RAISES (ConnormError): CN800 for the first.
    """
    for setting, value in settings.items():
        if not (math.isfinite(value) and value > 0):
            _refuse(setting, value, "a number above 0")


def check_not_negative(**settings: float | None) -> None:
    """Refuse numbers under 0.

    **settings (Optional[float]): By name; None passes.
    RAISES (ConnormError): CN800 for the first.
    """
    for setting, value in settings.items():
        if value is not None and not (math.isfinite(value) and value >= 0):
            _refuse(setting, value, "a number of at least 0")


def check_cosine(**settings: float) -> None:
    """Refuse numbers that are no cosine.

    **settings (float): By name.
    RAISES (ConnormError): CN800 for the first.
    """
    for setting, value in settings.items():
        if not -1 <= value <= 1:
            _refuse(setting, value, "a cosine, from -1 to 1")


def _refuse(setting: str, value: object, expected: str) -> None:
    raise ConnormError(Errors.CN800.format(setting=setting, expected=expected, value=value))
