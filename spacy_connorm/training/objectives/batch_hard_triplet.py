"""The hardest positive and the hardest negative of each anchor."""

import torch
from torch.nn.functional import softplus

from .pairs import PairObjective, Pairs, anchors_of, euclidean_distances, largest, root


class BatchHardTriplet(PairObjective):
    """`spacy-connorm.BatchHardTriplet.v1`: the objective of Xu and Bethard 2021, section 3.1.

    With d the Euclidean distance, for each anchor a with its farthest positive p and its nearest
    negative n in the batch:

        ln(1 + exp(d_ap - d_an))

    The loss is the mean over the anchors.
    """

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        anchors = anchors_of(pairs)
        with torch.no_grad():
            distances = euclidean_distances(vectors)
            farthest = largest(distances, pairs.positives)[1][anchors]
            nearest = largest(-distances, pairs.negatives)[1][anchors]
        # The library's TripletMarginLoss takes distances from the whole matrix: that is less exact
        # for near vectors, and the matrix's gradients cost more than those of these few distances.
        own, positives, negatives = vectors[anchors], vectors[farthest], vectors[nearest]
        apart = _lengths(own - positives) - _lengths(own - negatives)
        return softplus(apart).mean()


def _lengths(vectors: torch.Tensor) -> torch.Tensor:
    squared = vectors.square().sum(dim=1)
    return root(squared, squared.detach() > 0)
