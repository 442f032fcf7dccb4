"""Circle loss: each similarity is optimized at its own pace."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_at_least_zero, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def Circle(
    *, m: float = 0.25, gamma: float = 256.0, mining_margin: float | None = None
) -> "RelationLoss":
    """Build the circle loss (Sun et al. 2020; in the ablation of Liu et al. 2021, appendix, table
    6, which trained all objectives on hard pairs).

    With S the cosines and [x] = max(0, x), for each anchor a over its positives p and negatives n:

        log(1 + sum_n exp(gamma [S_an + m] (S_an - m))
              * sum_p exp(-gamma [1 + m - S_ap] (S_ap - 1 + m)))

    The loss is the mean over the anchors. The brackets are weights without gradients.

    m (float): The relaxation.
    gamma (float): The scale.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_at_least_zero(m=m, mining_margin=mining_margin)
    require_above_zero(gamma=gamma)
    require_libraries()
    from pytorch_metric_learning.losses import CircleLoss

    from .anchors import mean_of, over_usable_anchors, usable_anchors
    from .distances import StableCosine
    from .library_losses import library_losses
    from .mining import hard_pairs

    library = CircleLoss(m=m, gamma=gamma, distance=StableCosine())

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        cosines = library.distance(vectors)
        hard = hard_pairs(cosines, relations, margin=mining_margin)
        return mean_of(library_losses(library, cosines, hard)[usable_anchors(hard)], vectors)

    return loss
