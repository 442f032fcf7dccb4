"""Supervised contrastive loss: all positives of an anchor against all other texts."""

from typing import TYPE_CHECKING

from .checks import require_above_zero, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Relations
    from .anchors import RelationLoss


def SupervisedContrastive(*, temperature: float = 0.05) -> "RelationLoss":
    """Build the objective of Khosla et al. 2020, equation 2.

    With S the cosines over the temperature, for each anchor i over its positives p and all other
    texts a:

        log(sum_a exp(S_ia)) - mean_p S_ip

    The loss is the mean over the anchors.

    temperature (float): Divides the cosines.
    RETURNS (Callable): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_above_zero(temperature=temperature)
    require_libraries()
    from pytorch_metric_learning.losses import SupConLoss

    from .anchors import over_usable_anchors, usable_anchors
    from .distances import StableCosine
    from .library_losses import library_losses

    library = SupConLoss(temperature=temperature, distance=StableCosine())

    @over_usable_anchors
    def loss(vectors: "torch.Tensor", relations: "Relations") -> "torch.Tensor":
        losses = library_losses(library, library.distance(vectors), relations)
        return losses[usable_anchors(relations)].mean()

    return loss
