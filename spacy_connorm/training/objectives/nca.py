"""Neighbourhood components analysis: a soft nearest neighbour is of the same concept."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_at_least_zero, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def Nca(*, scale: float = 20.0, mining_margin: float | None = None) -> "RelationLoss":
    """Build the loss of neighbourhood components analysis (Goldberger et al. 2005; in the ablation
    of Liu et al. 2021, appendix, table 6, which trained all objectives on hard pairs).

    With d the Euclidean distance of the vectors scaled to length 1, for each anchor i over its
    positives p and all other texts a:

        -log(sum_p exp(-scale d_ip^2) / sum_a exp(-scale d_ia^2))

    The loss is the mean over the anchors.

    scale (float): Of the squared distances.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_above_zero(scale=scale)
    require_at_least_zero(mining_margin=mining_margin)
    require_libraries()
    from .anchors import mean_of, over_usable_anchors, usable_anchors
    from .distances import StableCosine
    from .masks import masked_logsumexp
    from .mining import hard_pairs

    similarity = StableCosine()

    # The library's NCALoss takes one label per text, and drops anchors whose sum underflows.
    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        cosines = similarity(vectors)
        hard = hard_pairs(cosines, relations, margin=mining_margin)
        # The squared distance of unit vectors is 2 - 2 cos, and the 2 cancels out in the quotient.
        logits = cosines * (2 * scale)
        others = hard.positives | hard.negatives
        losses = masked_logsumexp(logits, others) - masked_logsumexp(logits, hard.positives)
        return mean_of(losses[usable_anchors(hard)], vectors)

    return loss
