"""InfoNCE: each positive against all negatives of its anchor."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_at_least_zero, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def InfoNce(*, temperature: float = 0.07, mining_margin: float | None = None) -> "RelationLoss":
    """Build InfoNCE (Oord et al. 2018; in the ablation of Liu et al. 2021, appendix, table 6, which
    trained all objectives on hard pairs).

    With S the cosines over the temperature, for each pair of anchor a and positive p over the
    negatives n of a:

        -log(exp(S_ap) / (exp(S_ap) + sum_n exp(S_an)))

    The loss is the mean over the pairs.

    temperature (float): Divides the cosines.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_above_zero(temperature=temperature)
    require_at_least_zero(mining_margin=mining_margin)
    require_libraries()
    from torch.nn.functional import softplus

    from .anchors import mean_of, over_usable_anchors
    from .distances import StableCosine
    from .masks import masked_logsumexp
    from .mining import hard_pairs

    similarity = StableCosine()

    # The library's NTXentLoss compares each pair of positives with all pairs of negatives of the
    # batch: three billion for 1,500 texts.
    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        cosines = similarity(vectors)
        hard = hard_pairs(cosines, relations, margin=mining_margin)
        logits = cosines / temperature
        negatives = masked_logsumexp(logits, hard.negatives)
        anchors, positives = hard.positives.nonzero(as_tuple=True)
        # -log(e^p / (e^p + sum of e^n)) is the softplus of log(sum of e^n) - p.
        losses = softplus(negatives[anchors] - logits[anchors, positives])
        return mean_of(losses, vectors)

    return loss
