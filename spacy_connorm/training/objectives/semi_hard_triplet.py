"""The nearest negative beyond each positive. Imports torch."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss

from ..relations import Relations
from .distances import DISTANCES
from .masks import Mask, OnRelations, mean_of
from .triplets import distance_matrix, positive_pairs, violations


class SemiHardTripletLoss(OnRelations, TripletMarginLoss):
    """Behind `spacy-connorm.SemiHardTriplet.v1`."""

    def __init__(self, *, distance: str, margin: float) -> None:
        """distance (str): A key of `DISTANCES`.
        margin (float): Of the hinge, in the unit of the distance.
        """
        super().__init__(margin=margin, distance=DISTANCES[distance]())

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the pairs that have a semi-hard negative."""
        points = self.distance.maybe_normalize(vectors)
        triplets = self._mine(points.detach(), relations)
        return mean_of(violations(self, points, triplets), vectors)

    def _mine(
        self, points: torch.Tensor, relations: Relations
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        distances = distance_matrix(self, points)
        found = []
        for anchors, positives in positive_pairs(relations.positives):
            rows = distances[anchors]
            beyond = rows - distances[anchors, positives].unsqueeze(1)
            semi_hard = relations.negatives[anchors] & (beyond > 0) & (beyond < self.margin)
            nearest = Mask.of(semi_hard).largest(-rows)[1]
            some = semi_hard.any(dim=1)
            found.append((anchors[some], positives[some], nearest[some]))
        anchors, positives, negatives = (torch.cat(rows) for rows in zip(*found, strict=True))
        return anchors, positives, negatives
