"""All triplets that violate a margin. Imports torch."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss

from ..relations import Relations
from .distances import DISTANCES
from .masks import OnRelations, nothing
from .triplets import distance_matrix, parts


class MaxMarginTripletLoss(OnRelations, TripletMarginLoss):
    """Behind `spacy-connorm.MaxMarginTriplet.v1`."""

    def __init__(self, *, distance: str, margin: float) -> None:
        """distance (str): A key of `DISTANCES`.
        margin (float): Of the hinge, in the unit of the distance.
        """
        super().__init__(margin=margin, distance=DISTANCES[distance]())

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the triplets that violate the margin."""
        points = self.distance.maybe_normalize(vectors)
        distances = distance_matrix(self, points)
        counts, triplets = self._count(distances.detach(), relations)
        if triplets == 0:
            return nothing(vectors)
        return (counts * distances).sum() / triplets + self.margin

    def _count(self, distances: torch.Tensor, relations: Relations) -> tuple[torch.Tensor, int]:
        # Violations are linear in the distances, so that it is enough to know how often each
        # distance is that of a positive, less how often it is that of a negative.
        counts = torch.zeros_like(distances)
        anchors, positives = relations.positives.nonzero(as_tuple=True)
        for part in parts(len(anchors), size=len(distances)):
            own = anchors[part]
            limits = distances[own, positives[part]].unsqueeze(1) + self.margin
            violating = distances.index_select(0, own) < limits
            violating &= relations.negatives.index_select(0, own)
            amounts = violating.float()
            counts[own, positives[part]] = amounts.sum(dim=1)
            counts.index_add_(0, own, amounts, alpha=-1)
        return counts, int(counts.clamp(min=0).sum(dtype=torch.float64))
