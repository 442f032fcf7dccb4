"""The objectives over pairs of texts: their settings, equations and losses. Imports torch.

If pytorch-metric-learning has a loss over a matrix of similarities and masks of positives and
negatives, it computes the objective; otherwise, a comment explains why none of its losses fits.
"""

import torch
from pytorch_metric_learning.losses import CircleLoss, MultiSimilarityLoss, SupConLoss
from torch.nn.functional import softplus

from .objective import (
    mean_of,
    require_above_zero,
    require_at_least_zero,
    require_cosine,
    to_unit_length,
    zero_loss,
)
from .pairs import (
    MinedPairObjective,
    PairObjective,
    Pairs,
    anchors_of,
    cosines_of,
    euclidean_distances,
    largest,
    library_losses,
    masked_logsumexp,
    mine,
    root,
)


class BatchHardTriplet(PairObjective):
    """`spacy-connorm.BatchHardTriplet.v1`: the objective of Xu and Bethard 2021, section 3.1.

    With d the Euclidean distance, for each anchor a with its farthest positive p and its nearest
    negative n in the batch:

        ln(1 + exp(d_ap - d_an))

    The loss is the mean over the anchors.
    """

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss; see `PairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        anchors = anchors_of(pairs)
        with torch.no_grad():
            distances = euclidean_distances(vectors)
            farthest = largest(distances, pairs.positives)[1][anchors]
            nearest = largest(-distances, pairs.negatives)[1][anchors]
        # The library's TripletMarginLoss uses distances from the whole matrix: that is less exact
        # for near vectors, and the matrix's gradients cost more than those of these few distances.
        own, positives, negatives = vectors[anchors], vectors[farthest], vectors[nearest]
        apart = _lengths(own - positives) - _lengths(own - negatives)
        return softplus(apart).mean()


def _lengths(vectors: torch.Tensor) -> torch.Tensor:
    squared = vectors.square().sum(dim=1)
    return root(squared, squared.detach() > 0)


class MaxMarginTriplet(PairObjective):
    """`spacy-connorm.MaxMarginTriplet.v1`: the max-margin triplet loss (Basaldella et al. 2020; in
    the ablation of Liu et al. 2021, appendix, table 6).

    With d the Euclidean distance of the vectors scaled to length 1, over all triplets (a, p, n) of
    the batch whose term is above 0:

        mean(d_ap - d_an + margin)
    """

    def __init__(self, *, margin: float = 0.2) -> None:
        """Store the margin.

        margin (float): In units of the distance.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(margin=margin)
        self._margin = margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss; see `PairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        distances = euclidean_distances(to_unit_length(vectors))
        counts = _count_violations(distances.detach(), pairs, self._margin)
        violating = int(counts.clamp(min=0).sum(dtype=torch.float64))
        if violating == 0:
            return zero_loss(vectors)
        return (counts * distances).sum() / violating + self._margin


def _count_violations(distances: torch.Tensor, pairs: Pairs, margin: float) -> torch.Tensor:
    """Count in how many violating triplets each distance is the positive's, minus in how many it is
    the negative's, float32 (B, B). That is enough, since violations are linear in the distances;
    the library's TripletMarginLoss lists all B^3 triplets. At most B pairs at a time are compared
    with all texts, which takes no more memory than the matrix of distances.
    """
    counts = distances.new_zeros(distances.shape)
    anchors, positives = pairs.positives.nonzero(as_tuple=True)
    size = len(distances)
    for own, near in zip(anchors.split(size), positives.split(size), strict=True):
        limits = distances[own, near].unsqueeze(1) + margin
        violating = distances.index_select(0, own) < limits
        violating &= pairs.negatives.index_select(0, own)
        amounts = violating.float()
        counts[own, near] = amounts.sum(dim=1)
        counts.index_add_(0, own, amounts, alpha=-1)
    return counts


class MultiSimilarity(MinedPairObjective):
    """`spacy-connorm.MultiSimilarity.v1`: the objective of SapBERT (Liu et al. 2021, section 2).

    With S the cosines, for each text i over its hard positives p and hard negatives n:

        log(1 + sum_p exp(-alpha (S_ip - base))) / alpha
        + log(1 + sum_n exp(beta (S_in - base))) / beta

    The loss is the mean over all texts in the batch. SapBERT's paper prints alpha with the
    negatives and beta with the positives; its code and the original paper of the loss (Wang et al.
    2019) have them as here.
    """

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 50.0,
        base: float = 0.5,
        mining_margin: float | None = 0.2,
    ) -> None:
        """Store the settings.

        alpha (float): How much positives are weighted by their similarity.
        beta (float): How much negatives are weighted by their similarity.
        base (float): The paper's epsilon.
        mining_margin (Optional[float]): A pair is hard if it is in a triplet with `d_ap + margin >=
            d_an`, in the Euclidean distance of the vectors scaled to length 1; the paper's lambda
            is -0.2. If None, all pairs are kept.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__(mining_margin)
        require_above_zero(alpha=alpha, beta=beta)
        require_cosine(base=base)
        self._library = MultiSimilarityLoss(alpha, beta, base)

    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """Compute the loss; see `MinedPairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        return library_losses(self._library, cosines, hard).mean()


class SupervisedContrastive(PairObjective):
    """`spacy-connorm.SupervisedContrastive.v1`: the objective of Khosla et al. 2020, equation 2.

    With S the cosines over the temperature, for each anchor i over its positives p and all other
    texts a:

        log(sum_a exp(S_ia)) - mean_p S_ip

    The loss is the mean over the anchors.
    """

    def __init__(self, *, temperature: float = 0.05) -> None:
        """Store the temperature.

        temperature (float): Divides the cosines.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(temperature=temperature)
        self._library = SupConLoss(temperature)

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss; see `PairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        return library_losses(self._library, cosines_of(vectors), pairs)[anchors_of(pairs)].mean()


class Cosine(MinedPairObjective):
    """`spacy-connorm.Cosine.v1`: the cosine loss (Phan et al. 2019, as a loss over pairs; in the
    ablation of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines, over all pairs of positives (a, p) and those pairs of negatives (a, n) whose
    cosine is above 0:

        mean(1 - S_ap) + mean(S_an)
    """

    def __init__(self, *, mining_margin: float | None = None) -> None:
        """Store the settings.

        mining_margin (Optional[float]): As in `MultiSimilarity`; if None, all pairs are kept.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__(mining_margin)

    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """Compute the loss; see `MinedPairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        # The library's ContrastiveLoss takes lists of pairs: twice the time for 1,500 texts.
        positives = torch.relu(1 - cosines) * hard.positives.float()
        negatives = torch.relu(cosines) * hard.negatives.float()
        violating = (negatives.detach() > 0).sum()
        of_positives = positives.sum() / hard.positives.sum().clamp(min=1)
        return of_positives + negatives.sum() / violating.clamp(min=1)


class Nca(MinedPairObjective):
    """`spacy-connorm.Nca.v1`: neighbourhood components analysis (Goldberger et al. 2005; in the
    ablation of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With d the Euclidean distance of the vectors scaled to length 1, for each anchor i over its
    positives p and all other texts a:

        -log(sum_p exp(-scale d_ip^2) / sum_a exp(-scale d_ia^2))

    The loss is the mean over the anchors.
    """

    def __init__(self, *, scale: float = 20.0, mining_margin: float | None = None) -> None:
        """Store the settings.

        scale (float): The factor of the squared distances.
        mining_margin (Optional[float]): As in `MultiSimilarity`; if None, all pairs are kept.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__(mining_margin)
        require_above_zero(scale=scale)
        self._scale = scale

    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """Compute the loss; see `MinedPairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        # The library's NCALoss takes one label per text, and drops anchors whose sum underflows.
        # The squared distance of unit vectors is 2 - 2 cos, and the 2 cancels out in the quotient.
        logits = cosines * (2 * self._scale)
        others = hard.positives | hard.negatives
        losses = masked_logsumexp(logits, others) - masked_logsumexp(logits, hard.positives)
        return mean_of(losses[anchors_of(hard)], cosines)


class LiftedStructure(PairObjective):
    """`spacy-connorm.LiftedStructure.v1`: the lifted structure loss (Oh Song et al. 2016; in the
    ablation of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With d the Euclidean distance of the vectors scaled to length 1, for each pair of positives
    (a, p) over the negatives n of a and the negatives m of p:

        max(0, d_ap + log(sum_n exp(margin - d_an) + sum_m exp(margin - d_pm)))^2 / 2

    The loss is the mean over the pairs.
    """

    def __init__(self, *, margin: float = 0.5, mining_margin: float | None = None) -> None:
        """Store the settings.

        margin (float): In units of the distance.
        mining_margin (Optional[float]): As in `MultiSimilarity`; if None, all pairs are kept.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(margin=margin)
        require_at_least_zero(mining_margin=mining_margin)
        self._margin, self._mining_margin = margin, mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss; see `PairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        # The library's LiftedStructureLoss compares each pair of positives with all pairs of
        # negatives of the batch: three billion for 1,500 texts.
        distances = euclidean_distances(to_unit_length(vectors))
        if self._mining_margin is not None:
            pairs = mine(distances.detach(), pairs, margin=self._mining_margin)
        negatives = masked_logsumexp(self._margin - distances, pairs.negatives)
        anchors, positives = pairs.positives.nonzero(as_tuple=True)
        structure = torch.logaddexp(negatives[anchors], negatives[positives])
        losses = torch.relu(structure + distances[anchors, positives]).square() / 2
        return mean_of(losses, vectors)


class InfoNce(MinedPairObjective):
    """`spacy-connorm.InfoNce.v1`: InfoNCE (Oord et al. 2018; in the ablation of Liu et al. 2021,
    appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines over the temperature, for each pair of anchor a and positive p over the
    negatives n of a:

        -log(exp(S_ap) / (exp(S_ap) + sum_n exp(S_an)))

    The loss is the mean over the pairs.
    """

    def __init__(self, *, temperature: float = 0.07, mining_margin: float | None = None) -> None:
        """Store the settings.

        temperature (float): Divides the cosines.
        mining_margin (Optional[float]): As in `MultiSimilarity`; if None, all pairs are kept.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__(mining_margin)
        require_above_zero(temperature=temperature)
        self._temperature = temperature

    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """Compute the loss; see `MinedPairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        # The library's NTXentLoss compares each pair of positives with all pairs of negatives of
        # the batch: three billion for 1,500 texts.
        logits = cosines / self._temperature
        negatives = masked_logsumexp(logits, hard.negatives)
        anchors, positives = hard.positives.nonzero(as_tuple=True)
        # -log(e^p / (e^p + sum of e^n)) is the softplus of log(sum of e^n) - p.
        return mean_of(softplus(negatives[anchors] - logits[anchors, positives]), cosines)


class Circle(MinedPairObjective):
    """`spacy-connorm.Circle.v1`: the circle loss (Sun et al. 2020; in the ablation of Liu et al.
    2021, appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines and [x] = max(0, x), for each anchor a over its positives p and negatives n:

        log(1 + sum_n exp(gamma [S_an + m] (S_an - m))
              * sum_p exp(-gamma [1 + m - S_ap] (S_ap - 1 + m)))

    The loss is the mean over the anchors. The brackets are weights without gradients.
    """

    def __init__(
        self, *, m: float = 0.25, gamma: float = 256.0, mining_margin: float | None = None
    ) -> None:
        """Store the settings.

        m (float): The relaxation.
        gamma (float): The scale.
        mining_margin (Optional[float]): As in `MultiSimilarity`; if None, all pairs are kept.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__(mining_margin)
        require_at_least_zero(m=m)
        require_above_zero(gamma=gamma)
        self._library = CircleLoss(m=m, gamma=gamma)

    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """Compute the loss; see `MinedPairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        return mean_of(library_losses(self._library, cosines, hard)[anchors_of(hard)], cosines)
