"""The nearest negative beyond each positive. Imports torch."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss

from ..relations import Relations
from .distances import DISTANCES
from .masks import OUT, OnRelations, mean_of
from .triplets import distance_matrix, parts, violations


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
        anchors, positives = relations.positives.nonzero(as_tuple=True)
        # Filled in place: small tensors kept from part to part would leave gaps in the memory
        # that no other matrix fits in.
        negatives = torch.empty_like(anchors)
        found = torch.empty_like(anchors, dtype=torch.bool)
        for part in parts(len(anchors), size=len(points)):
            rows = distances.index_select(0, anchors[part])
            near = distances[anchors[part], positives[part]].unsqueeze(1)
            semi_hard = relations.negatives.index_select(0, anchors[part])
            semi_hard &= rows > near
            semi_hard &= rows < near + self.margin
            found[part] = semi_hard.any(dim=1)
            negatives[part] = rows.sub_(semi_hard.logical_not_().float().mul_(OUT)).argmin(dim=1)
        return anchors[found], positives[found], negatives[found]
