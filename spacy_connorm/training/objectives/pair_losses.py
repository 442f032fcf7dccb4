"""The objectives over pairs of texts: their settings, equations and losses. Imports torch.

If pytorch-metric-learning has a loss over a matrix of similarities and masks of positives and
negatives, it computes the objective; otherwise, a comment explains why none of its losses fits.
"""

import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss, SupConLoss
from torch.nn.functional import softplus

from ...errors import require_range
from .objective import mean_of
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
        ends, positives, negatives = vectors[anchors], vectors[farthest], vectors[nearest]
        apart = _lengths(ends - positives) - _lengths(ends - negatives)
        return softplus(apart).mean()


def _lengths(vectors: torch.Tensor) -> torch.Tensor:
    squared = vectors.square().sum(dim=1)
    return root(squared, squared.detach() > 0)


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
        require_range(above=0, alpha=alpha, beta=beta)
        require_range(least=-1, most=1, base=base)
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
        require_range(above=0, temperature=temperature)
        self._library = SupConLoss(temperature)

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss; see `PairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        return library_losses(self._library, cosines_of(vectors), pairs)[anchors_of(pairs)].mean()


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
        require_range(above=0, temperature=temperature)
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
