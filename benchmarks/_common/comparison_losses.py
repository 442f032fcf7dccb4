"""The losses that SapBERT is compared with (Liu et al. 2021, appendix, table 6), as
pytorch-metric-learning has them, on the pairs that online mining keeps. Imports torch.

Importing the file registers them in `@losses`, so a training config can name them.
"""

import torch
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.losses import (
    CircleLoss,
    ContrastiveLoss,
    LiftedStructureLoss,
    TripletMarginLoss,
)
from pytorch_metric_learning.losses.base_metric_loss_function import BaseMetricLossFunction
from spacy.util import registry

from spacy_connorm.training.objectives.objective import mean_of, to_unit_length
from spacy_connorm.training.objectives.pairs import (
    MinedPairObjective,
    PairObjective,
    Pairs,
    anchors_of,
    hard_pairs,
    masked_logsumexp,
)


class LibraryLoss(PairObjective):
    """A loss that pytorch-metric-learning computes from lists of pairs."""

    def __init__(self, loss: BaseMetricLossFunction, mining_margin: float) -> None:
        """loss (BaseMetricLossFunction): The library's.
        mining_margin (float): As in `MultiSimilarity`.
        """
        super().__init__()
        self._loss, self._mining_margin = loss, mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): The loss of the hard pairs."""
        points = to_unit_length(vectors)
        hard = hard_pairs(points @ points.T, pairs, margin=self._mining_margin)
        lists = (*hard.positives.nonzero(as_tuple=True), *hard.negatives.nonzero(as_tuple=True))
        return self._loss(points, indices_tuple=lists)


@registry.losses("sapbert.Cosine.v1")
def make_cosine(mining_margin: float) -> PairObjective:
    """With S the cosines: mean(1 - S_ap) + mean(S_an), over the S_an above 0 (Phan et al. 2019)."""
    loss = ContrastiveLoss(pos_margin=1, neg_margin=0, distance=CosineSimilarity())
    return LibraryLoss(loss, mining_margin)


@registry.losses("sapbert.MaxMarginTriplet.v1")
def make_max_margin_triplet(margin: float) -> PairObjective:
    """With d the Euclidean distance of unit vectors: mean(d_ap - d_an + margin), over the triplets
    whose term is above 0 (Basaldella et al. 2020). Their pairs are those of hard triplets.
    """
    return LibraryLoss(TripletMarginLoss(margin=margin), margin)


@registry.losses("sapbert.LiftedStructure.v1")
def make_lifted_structure(margin: float, mining_margin: float) -> PairObjective:
    """For each pair of positives, over the negatives n of a and m of p (Oh Song et al. 2016):
    max(0, d_ap + log(sum_n exp(margin - d_an) + sum_m exp(margin - d_pm)))^2 / 2.
    """
    return LibraryLoss(LiftedStructureLoss(neg_margin=margin), mining_margin)


@registry.losses("sapbert.Circle.v1")
def make_circle(m: float, gamma: float, mining_margin: float) -> PairObjective:
    """For each anchor (Sun et al. 2020), where the brackets, [x] = max(0, x), have no gradients:
    log(1 + sum_n exp(gamma [S_an + m] (S_an - m))
    * sum_p exp(-gamma [1 + m - S_ap] (S_ap - 1 + m))).
    """
    return LibraryLoss(CircleLoss(m=m, gamma=gamma), mining_margin)


@registry.losses("sapbert.Nca.v1")
class Nca(MinedPairObjective):
    """For each anchor, over its positives p and all other texts a (Goldberger et al. 2005):
    -log(sum_p exp(-scale d_ip^2) / sum_a exp(-scale d_ia^2)).
    """

    def __init__(self, scale: float, mining_margin: float) -> None:
        """scale (float): The factor of the squared distances.
        mining_margin (float): As in `MultiSimilarity`.
        """
        super().__init__(mining_margin)
        self._scale = scale

    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): The loss of the hard pairs."""
        # The library's NCALoss takes one label per text, and can't leave out pairs. The squared
        # distance of unit vectors is 2 - 2 cos, and the 2 cancels out in the quotient.
        logits = cosines * (2 * self._scale)
        others = hard.positives | hard.negatives
        losses = masked_logsumexp(logits, others) - masked_logsumexp(logits, hard.positives)
        return mean_of(losses[anchors_of(hard)], cosines)
