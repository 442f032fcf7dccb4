"""Settings that make no sense with inner products."""

from collections.abc import Mapping
from typing import Any

from ..errors import ConnormError, Errors
from ..index.metrics import COSINE
from .sieve import Sieve

# They raise or lower scores by a share of the largest cosine, 1.
_SHARES = ("rewriting_weight", "extra_words_weight")


def require_comparable(metric: str, sieve: Sieve, settings: Mapping[str, Any]) -> None:
    """Refuse settings that compare a score with a fixed number or another text's score: an
    inner product has no upper limit, and grows with the length of the mention's vector.

    metric (str): Of the index.
    sieve (Sieve): The searches.
    settings (Mapping[str, Any]): By name; those that are missing are not used.
    RAISES (ConnormError): CN421 with all that must be changed, unless the metric is "cosine".
    """
    if metric == COSINE:
        return
    wanted = [f"`{name} = 0`" for name in _SHARES if settings.get(name)]
    if settings.get("split_composites"):
        wanted.append("`split_composites = false`")
    if len(sieve.searches) > 1:
        wanted.append(
            f'a sieve of one search (`searches = ["{sieve.searches[-1]}"]`, `thresholds = []`)'
        )
    if wanted:
        raise ConnormError(Errors.CN421.format(metric=metric, settings=", ".join(wanted)))
