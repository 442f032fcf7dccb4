"""The Annoy index as pipelines are shipped with it, and its forest alone."""

from spacy_connorm.index.backends.annoy import AnnoySearcher
from spacy_connorm.index.backends.protocol import Searcher


def forest_alone(searcher: Searcher) -> Searcher:
    """RETURNS (Searcher): The same, told not to search exactly where that would be cheaper. It
    still does for more items than the forest would inspect.
    """
    if isinstance(searcher, AnnoySearcher):
        searcher.costs = None
    return searcher
