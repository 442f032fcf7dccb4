"""Supervised contrastive loss with parents as positives of less weight."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_libraries, require_share

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def FamilyContrastive(*, temperature: float = 0.05, parent_share: float = 0.1) -> "RelationLoss":
    """Build `SupervisedContrastive` with soft positives: names of parents are nearer to a concept
    than any other text but its synonyms.

    With S the cosines over the temperature and w the parents' share, for each anchor i over its
    positives p, the hypernyms h and all other texts a:

        log(sum_a exp(S_ia)) - (1 - w) mean_p S_ip - w mean_h S_ih

    w is 0 for an anchor without hypernyms in the batch. The loss is the mean over the anchors.

    temperature (float): Divides the cosines.
    parent_share (float): w, from 0 to under 1.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN800 for an invalid setting, CN801 if a library is missing.
    """
    require_above_zero(temperature=temperature)
    require_share(parent_share=parent_share)
    require_libraries()
    from .anchors import over_usable_anchors, usable_anchors
    from .distances import StableCosine

    similarity = StableCosine()

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        anchors = usable_anchors(relations)
        scores = similarity(vectors)[anchors] / temperature
        positives, negatives, hypernyms = (each[anchors].float() for each in relations)
        others = scores.masked_fill((positives + negatives) == 0, float("-inf"))
        share = parent_share * hypernyms.amax(dim=1)
        wanted = (1 - share) * _mean(scores, positives) + share * _mean(scores, hypernyms)
        return (others.logsumexp(dim=1) - wanted).mean()

    return loss


def _mean(scores: "torch.Tensor", chosen: "torch.Tensor") -> "torch.Tensor":
    """RETURNS (torch.Tensor): (n,), the mean of the chosen scores of each row; 0 of none."""
    return (scores * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)
