"""The nearest negative beyond each positive. Imports torch."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss

from ..relations import Relations
from .distances import DISTANCES
from .masks import OUT, OnRelations, mean_of
from .triplets import distance_matrix, parts


class SemiHardTripletLoss(OnRelations, TripletMarginLoss):
    """Behind `spacy-connorm.SemiHardTriplet.v1`."""

    def __init__(self, *, distance: str, margin: float) -> None:
        """distance (str): A key of `DISTANCES`.
        margin (float): Of the hinge, in the unit of the distance.
        """
        super().__init__(margin=margin, distance=DISTANCES[distance]())

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """RETURNS (torch.Tensor): The mean over the pairs that have a semi-hard negative."""
        distances = distance_matrix(self, self.distance.maybe_normalize(vectors))
        anchors, positives, negatives = self._mine(distances.detach(), relations)
        # There may be many more pairs than texts, so their distances are not computed again.
        apart = distances[anchors, positives] - distances[anchors, negatives]
        return mean_of(torch.relu(apart + self.margin), vectors)

    def _mine(
        self, distances: torch.Tensor, relations: Relations
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        anchors, positives = relations.positives.nonzero(as_tuple=True)
        negatives = torch.empty_like(anchors)
        found = torch.empty_like(anchors, dtype=torch.bool)
        for part in parts(len(anchors), size=len(distances)):
            rows = distances.index_select(0, anchors[part])
            near = distances[anchors[part], positives[part]].unsqueeze(1)
            semi_hard = relations.negatives.index_select(0, anchors[part])
            semi_hard &= rows > near
            semi_hard &= rows < near + self.margin
            found[part] = semi_hard.any(dim=1)
            negatives[part] = rows.sub_(semi_hard.logical_not_().float().mul_(OUT)).argmin(dim=1)
        return anchors[found], positives[found], negatives[found]
