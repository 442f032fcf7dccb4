"""The Annoy index as pipelines are shipped with it, and its forest alone."""

from typing import Any

from thinc.api import Config

from spacy_connorm.index.backends.annoy import AnnoyIndex, AnnoySearcher
from spacy_connorm.index.backends.protocol import Searcher
from spacy_connorm.pipeline.factory import DEFAULT_CONFIG


def shipped_index() -> AnnoyIndex:
    """RETURNS (AnnoyIndex): The index of a component without any settings."""
    block = Config().from_str(DEFAULT_CONFIG)["concept_normalizer"]["index"]
    settings: dict[str, Any] = {key: value for key, value in block.items() if key != "@misc"}
    return AnnoyIndex(**settings)


def forest_alone(searcher: Searcher) -> Searcher:
    """RETURNS (Searcher): The same, told not to search exactly where that would be cheaper. It
    still does for more items than the forest would inspect.
    """
    if isinstance(searcher, AnnoySearcher):
        searcher.costs = None
    return searcher
