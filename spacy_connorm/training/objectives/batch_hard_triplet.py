"""The hardest positive and the hardest negative of each anchor. Imports torch."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss

from ..relations import Relations
from .distances import DISTANCES
from .masks import Mask, OnRelations, usable_anchors
from .triplets import distance_matrix, violations


class BatchHardTripletLoss(OnRelations, TripletMarginLoss):
    """Behind `spacy-connorm.BatchHardTriplet.v1`."""

    def __init__(self, *, distance: str, margin: float | None) -> None:
        """distance (str): A key of `DISTANCES`.
        margin (Optional[float]): Of the hinge; None for the soft margin, ln(1 + exp(d_ap - d_an)).
        """
        super().__init__(
            margin=margin or 0, smooth_loss=margin is None, distance=DISTANCES[distance]()
        )

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the anchors."""
        anchors = usable_anchors(relations)
        points = self.distance.maybe_normalize(vectors)
        with torch.no_grad():
            distances = distance_matrix(self, points)
            farthest = Mask.of(relations.positives).largest(distances)[1]
            nearest = Mask.of(relations.negatives).largest(-distances)[1]
        triplets = anchors, farthest[anchors], nearest[anchors]
        return violations(self, points, triplets).mean()
