"""Cosine loss: cosines of positives go to 1, those of negatives below a margin."""

from typing import TYPE_CHECKING

from .checks import require_at_least_zero, require_cosine, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def Cosine(*, margin: float = 0.0, mining_margin: float | None = None) -> "RelationLoss":
    """Build the cosine loss (Phan et al. 2019, as a loss over pairs; in the ablation of Liu et al.
    2021, appendix, table 6, which trained all objectives on hard pairs).

    With S the cosines, over all pairs of positives (a, p) and those pairs of negatives (a, n) whose
    term is above 0:

        mean(1 - S_ap) + mean(S_an - margin)

    margin (float): The cosine that negatives may have.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_cosine(margin=margin)
    require_at_least_zero(mining_margin=mining_margin)
    require_libraries()
    from torch.nn.functional import relu

    from .anchors import over_usable_anchors
    from .distances import StableCosine
    from .mining import hard_pairs

    similarity = StableCosine()

    # The library's ContrastiveLoss takes lists of pairs, which doubles the time for 1,500 texts.
    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        cosines = similarity(vectors)
        hard = hard_pairs(cosines, relations, margin=mining_margin)
        positives = relu(1 - cosines) * hard.positives.float()
        negatives = relu(cosines - margin) * hard.negatives.float()
        violating = (negatives.detach() > 0).sum()
        of_positives = positives.sum() / hard.positives.sum().clamp(min=1)
        return of_positives + negatives.sum() / violating.clamp(min=1)

    return loss
