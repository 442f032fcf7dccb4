"""Multi-Similarity over hard pairs: how SapBERT is trained."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_at_least_zero, require_cosine, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def MultiSimilarity(
    *,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
    mining_margin: float | None = 0.2,
) -> "RelationLoss":
    """Build the objective of SapBERT (Liu et al. 2021, section 2).

    With S the cosines, for each text i over its hard positives p and hard negatives n:

        log(1 + sum_p exp(-alpha (S_ip - base))) / alpha
        + log(1 + sum_n exp(beta (S_in - base))) / beta

    The loss is the mean over all texts of the batch. SapBERT's paper prints alpha with the
    negatives and beta with the positives; its code and the loss's own paper (Wang et al. 2019) have
    them as here.

    alpha (float): Weighs positives by their similarity.
    beta (float): Weighs negatives by their similarity.
    base (float): The paper's epsilon.
    mining_margin (Optional[float]): A pair is hard if it is in a triplet with `d_ap + margin >=
        d_an`, in the Euclidean distance of the vectors scaled to length 1; the paper's lambda of
        -0.2. None keeps all pairs.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_above_zero(alpha=alpha, beta=beta)
    require_cosine(base=base)
    require_at_least_zero(mining_margin=mining_margin)
    require_libraries()
    from pytorch_metric_learning.losses import MultiSimilarityLoss

    from .anchors import over_usable_anchors
    from .distances import StableCosine
    from .library_losses import library_losses
    from .mining import hard_pairs

    library = MultiSimilarityLoss(alpha=alpha, beta=beta, base=base, distance=StableCosine())

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        cosines = library.distance(vectors)
        hard = hard_pairs(cosines, relations, margin=mining_margin)
        return library_losses(library, cosines, hard).mean()

    return loss
