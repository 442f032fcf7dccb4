"""Multi-Similarity over hard pairs: how SapBERT is trained."""

import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss

from .objective import require_above_zero, require_at_least_zero, require_cosine
from .pairs import PairObjective, Pairs, cosines_of, hard_pairs, library_losses


class MultiSimilarity(PairObjective):
    """`spacy-connorm.MultiSimilarity.v1`: the objective of SapBERT (Liu et al. 2021, section 2).

    With S the cosines, for each text i over its hard positives p and hard negatives n:

        log(1 + sum_p exp(-alpha (S_ip - base))) / alpha
        + log(1 + sum_n exp(beta (S_in - base))) / beta

    The loss is the mean over all texts of the batch. SapBERT's paper prints alpha with the
    negatives and beta with the positives; its code and the loss's own paper (Wang et al. 2019) have
    them as here.
    """

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 50.0,
        base: float = 0.5,
        mining_margin: float | None = 0.2,
    ) -> None:
        """alpha (float): Weighs positives by their similarity.
        beta (float): Weighs negatives by their similarity.
        base (float): The paper's epsilon.
        mining_margin (Optional[float]): A pair is hard if it is in a triplet with
            `d_ap + margin >= d_an`, in the Euclidean distance of the vectors scaled to length 1;
            the paper's lambda of -0.2. None keeps all pairs.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_above_zero(alpha=alpha, beta=beta)
        require_cosine(base=base)
        require_at_least_zero(mining_margin=mining_margin)
        self._margin = mining_margin
        self._library = MultiSimilarityLoss(alpha, beta, base)

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """RETURNS (torch.Tensor): See `PairObjective`."""
        cosines = cosines_of(vectors)
        hard = hard_pairs(cosines, pairs, margin=self._margin)
        return library_losses(self._library, cosines, hard).mean()
